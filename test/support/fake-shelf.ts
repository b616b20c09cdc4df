import type { Shelf } from '../../src/client/outbox/exit-note.js';

export interface FakeShelf extends Shelf {
  values: Map<string, string>;
  /** While true it behaves as localStorage does where site data is blocked. */
  blocked: boolean;
}

/** A localStorage for several pages. */
export const createFakeShelf = (): FakeShelf => {
  const values = new Map<string, string>();
  const shelf: FakeShelf = {
    values,
    blocked: false,
    get: (key) => (shelf.blocked ? undefined : values.get(key)),
    set: (key, value) => {
      if (shelf.blocked) return false;
      if (value === undefined) values.delete(key);
      else values.set(key, value);
      return true;
    },
    keys: () => (shelf.blocked ? [] : [...values.keys()]),
  };
  return shelf;
};
