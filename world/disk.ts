/** A key in IndexedDB. */
export type Key = readonly (string | number)[];

export interface Slot {
  key: Key;
  /** A structured clone, as text. */
  text: string;
  /** Ids of the records in it. */
  ids: readonly string[];
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

/** What survives pages and browsers: the databases and the localStorage of one origin. */
export const createDisk = (now: () => number) => {
  const databases = new Map<string, Map<string, Slot>>();
  const shelf = new Map<string, string>();
  let recent: { at: number; key: string; before: string | undefined }[] = [];

  const put = (key: string, value: string | undefined) => {
    if (value === undefined) shelf.delete(key);
    else shelf.set(key, value);
  };
  const stored = () => [...databases.values()].flatMap((slots) => [...slots.values()]);

  return {
    databases,
    shelf,
    /** Whether any store has the record. */
    has: (id: string): boolean =>
      stored().some(({ ids }) => ids.includes(id)) ||
      [...shelf.values()].some((text) => text.includes(`"id":"${id}"`)),
    /** All records, wherever they are. */
    records: (): string[] => [
      ...stored().flatMap(({ ids }) => ids),
      ...[...shelf.values()].filter((text) => text.includes('"records"')),
    ],
    /** A page changes localStorage: what stood there before is remembered for `loseRecent`. */
    wrote: (key: string, before: string | undefined): void => {
      recent = recent.filter(({ at }) => now() - at < 5_000);
      recent.push({ at: now(), key, before });
    },
    put,
    /** localStorage reaches the disk late, so a browser that is killed loses its latest changes. */
    loseRecent: (ms: number): void => {
      for (const { at, key, before } of recent.reverse()) if (now() - at <= ms) put(key, before);
      recent = [];
    },
    /** The user clears the site's data. */
    clear: (): void => {
      for (const slots of databases.values()) slots.clear();
      shelf.clear();
      recent = [];
    },
  };
};

export type Disk = ReturnType<typeof createDisk>;
