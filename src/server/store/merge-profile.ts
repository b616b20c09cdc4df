import type { Profile } from './port.js';

/** Properties, and for each the time of the call that set it. */
export type Timed = Pick<Profile, 'properties' | 'set_at'>;

/** The properties of one identify. */
export const timed = (properties: object, calledAt: string): Timed => ({
  properties: properties as Record<string, unknown>,
  set_at: Object.fromEntries(Object.keys(properties).map((name) => [name, calledAt])),
});

/**
 * Merges properties into a profile, one level deep: a value replaces the stored one whole, a key that is not named
 * stays, and `null` is a value, not a removal. Each property has the value of the latest call that named it, whichever
 * came first; of two calls at the same time, that of the later arrival.
 */
export const mergeProfile = (kept: Timed | undefined, named: Timed): Timed => {
  if (!kept) return named;
  const later = Object.keys(named.properties).filter(
    (name) => !(Object.hasOwn(kept.set_at, name) && kept.set_at[name]! > named.set_at[name]!),
  );
  const ofLater = <Value>(all: Record<string, Value>) =>
    Object.fromEntries(later.map((name) => [name, all[name]!]));
  // Not by assignment: a property named `__proto__` is an ordinary one.
  return {
    properties: { ...kept.properties, ...ofLater(named.properties) },
    set_at: { ...kept.set_at, ...ofLater(named.set_at) },
  };
};
