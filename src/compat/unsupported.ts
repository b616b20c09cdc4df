/**
 * A `toJSON` for a call without a counterpart: `event('alias', { toJSON: unsupported('alias') })` tells of it where the
 * instance tells of wrong calls, which are `onDrop`, `status().dropped` and a developer's console. An instance takes
 * the reason of a drop from what the fields throw as they become JSON.
 */
export const unsupported = (name: string) => (): never => {
  throw Object.assign(Error(`${name} has no counterpart`), { reason: 'not-supported' });
};
