/**
 * A `toJSON` for a call without a counterpart: `event('', { toJSON: unsupported('alias') })` tells of it where the
 * instance tells of wrong calls, which are `onDrop`, `status().dropped` and a developer's console. An instance says of
 * fields that throw as they become JSON what they throw, and drops these words as `not-supported`.
 */
export const unsupported = (name: string) => (): never => {
  throw Error(`${name} has no counterpart`);
};
