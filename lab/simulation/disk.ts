/** A key in IndexedDB. */
export type Key = readonly (string | number)[];

export interface Slot {
  key: Key;
  /** A structured clone, as text. */
  text: string;
  /** Ids of the records in it. */
  ids: readonly string[];
}

/** Who changed something on the disk, and how. */
export interface Change {
  /** Empty where no page did. */
  page: string;
  /**
   * `transaction` and `clear` by a page in IndexedDB, `shelf` by a page in localStorage; `user`: the site's
   * data was cleared; `crash` and `exit`: the last writes to localStorage are lost, of all pages or of one.
   */
  by: 'transaction' | 'clear' | 'shelf' | 'user' | 'crash' | 'exit';
}

interface Effects {
  now: () => number;
  /** The last copy of a record is gone from the disk. */
  onGone: (id: string, change: Change) => void;
}

/** An array sorts by its members; numbers before texts (https://w3c.github.io/IndexedDB/#compare-two-keys). */
export const compareKeys = (a: Key, b: Key): number => {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i]!, b[i]!];
    if (typeof x !== typeof y) return typeof x === 'number' ? -1 : 1;
    if (x !== y) return x < y ? -1 : 1;
  }
  return a.length - b.length;
};

export const nameOf = (key: Key): string => JSON.stringify(key);

interface Written {
  at: number;
  key: string;
  before: string | undefined;
}

const idsInNote = (text: string): string[] => {
  if (!text.includes('"parcels"')) return [];
  const { parcels } = JSON.parse(text) as { parcels: { records: { id: string }[] }[] };
  return parcels.flatMap(({ records }) => records.map(({ id }) => id));
};

/** What survives pages and browsers: the databases and the localStorage of one origin. */
export const createDisk = ({ now, onGone }: Effects) => {
  const databases = new Map<string, Map<string, Slot>>();
  const shelf = new Map<string, string>();
  const copies = new Map<string, number>();
  let recent: Written[] = [];

  const count = (ids: readonly string[], step: 1 | -1, change: Change) => {
    for (const id of ids) {
      const before = copies.get(id) ?? 0;
      copies.set(id, before + step);
      if (before + step === 0) onGone(id, change);
    }
  };

  const setShelf = (key: string, value: string | undefined, change: Change) => {
    const before = shelf.get(key);
    if (value === undefined) shelf.delete(key);
    else shelf.set(key, value);
    if (value !== undefined) count(idsInNote(value), 1, change);
    if (before !== undefined) count(idsInNote(before), -1, change);
  };

  return {
    shelf: shelf as ReadonlyMap<string, string>,
    has: (id: string): boolean => (copies.get(id) ?? 0) > 0,
    database: (name: string): Map<string, Slot> => {
      const found = databases.get(name) ?? new Map<string, Slot>();
      databases.set(name, found);
      return found;
    },
    exists: (name: string): boolean => databases.has(name),
    names: (): string[] => [...databases.keys()],
    /** Applies all changes of one transaction at once. `undefined` deletes. */
    commit: (name: string, changes: Map<string, Slot | undefined>, change: Change): void => {
      const slots = databases.get(name)!;
      const before: string[] = [];
      for (const [key, slot] of changes) {
        before.push(...(slots.get(key)?.ids ?? []));
        if (slot) slots.set(key, slot);
        else slots.delete(key);
      }
      for (const slot of changes.values()) if (slot) count(slot.ids, 1, change);
      count(before, -1, change);
    },
    /** Deletes a database with all that is in it. */
    remove: (name: string, change: Change): void => {
      const slots = [...(databases.get(name)?.values() ?? [])];
      databases.delete(name);
      for (const { ids } of slots) count(ids, -1, change);
    },
    setShelf: (key: string, value: string | undefined, change: Change): void => {
      recent = recent.filter(({ at }) => now() - at < 5_000);
      recent.push({ at: now(), key, before: shelf.get(key) });
      setShelf(key, value, change);
    },
    /** localStorage reaches the disk late, so a browser that is killed loses its latest changes. */
    loseRecent: (ms: number): string[] => {
      const keys: string[] = [];
      for (const { at, key, before } of recent.reverse()) {
        if (now() - at > ms) break;
        keys.push(key);
        setShelf(key, before, { page: '', by: 'crash' });
      }
      recent = [];
      return keys;
    },
    /** The user clears the site's data. */
    clear: (): void => {
      const change: Change = { page: '', by: 'user' };
      for (const slots of databases.values()) {
        for (const { ids } of slots.values()) count(ids, -1, change);
        slots.clear();
      }
      for (const key of [...shelf.keys()]) setShelf(key, undefined, change);
      recent = [];
    },
  };
};

export type Disk = ReturnType<typeof createDisk>;
