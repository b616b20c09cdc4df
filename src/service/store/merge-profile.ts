/** What a store keeps of a user: each property, and when the call was made that gave it. */
export interface Kept {
  properties: Record<string, unknown>;
  /** ISO 8601, by the name of the property. */
  times: Record<string, string>;
}

/**
 * Merges the properties of an identify into a profile, one level deep: a value replaces the stored one whole, a key
 * that is not named stays, and `null` is a value, not a removal. Each property has the value of the latest call that
 * named it, whichever came first; of two calls at the same time, that of the later arrival.
 */
export const mergeProfile = (
  kept: Kept | undefined,
  properties: object,
  calledAt: string,
): Kept => {
  const named = Object.entries(properties).filter(
    ([name]) => !(kept && Object.hasOwn(kept.times, name) && kept.times[name]! > calledAt),
  );
  // Not by assignment: a property named `__proto__` is an ordinary one.
  return {
    properties: { ...kept?.properties, ...Object.fromEntries(named) },
    times: { ...kept?.times, ...Object.fromEntries(named.map(([name]) => [name, calledAt])) },
  };
};
