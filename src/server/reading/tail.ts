/** How many entries are kept, and how many characters of JSON. */
const [MAX_ENTRIES, MAX_CHARACTERS] = [2_000, 16_000_000];

/** Keeps the last of the entries that were read behind a place. */
export const createTail = <Entry extends { seq: number; json: string }>(from: number) => {
  const entries: Entry[] = [];
  /** Everything behind this place that was read is here. */
  let start = from;
  let size = 0;
  /** The last entry that was here when `age` was called. */
  let old = from;

  const indexBehind = (seq: number): number => {
    let index = entries.length;
    while (index > 0 && entries[index - 1]!.seq > seq) index--;
    return index;
  };
  const drop = (count: number): void => {
    if (!count) return;
    start = entries[count - 1]!.seq;
    for (const { json } of entries.splice(0, count)) size -= json.length;
  };

  return {
    add: (more: readonly Entry[]): void => {
      entries.push(...more);
      for (const { json } of more) size += json.length;
      let [count, rest] = [0, size];
      while (entries.length - count > MAX_ENTRIES || rest > MAX_CHARACTERS)
        rest -= entries[count++]!.json.length;
      drop(count);
    },
    /** Drops some entries, wherever they stand. */
    remove: (isGone: (entry: Entry) => boolean): void => {
      const kept = entries.filter((entry) => !isGone(entry));
      entries.splice(0, entries.length, ...kept);
      size = kept.reduce((sum, { json }) => sum + json.length, 0);
    },
    /** Drops the entries that were here at the last call already. */
    age: (): void => {
      drop(indexBehind(old));
      old = entries.at(-1)?.seq ?? start;
    },
    /** The entries behind a place, or undefined if some of them were dropped. */
    behind: (seq: number): Entry[] | undefined =>
      seq < start ? undefined : entries.slice(indexBehind(seq)),
  };
};
