import type { Entry } from '../outbox/parcel.js';
import type { Capacity } from './sender.js';
import type { Troubles } from './troubles.js';

/** How many records go into one request: as many as it takes, and fewer after trouble. */
export const createBatching = (capacity: Capacity, troubles: Troubles) => {
  const { bytesPerRecord, bytesPerRequest } = capacity;
  let { records, bytes } = capacity;

  const weightOf = ({ size }: Entry): number => size + bytesPerRecord;
  const goesAlone = (entry: Entry): boolean => troubles.see(entry).isAlone;

  /** Bytes of a request. */
  const weigh = (group: readonly Entry[]): number =>
    group.reduce((sum, entry) => sum + weightOf(entry), bytesPerRequest);

  return {
    weigh,
    /** Bytes a record adds, alone in a request or with others. */
    weightOf: (entry: Entry, alone: boolean): number =>
      weightOf(entry) + (alone ? bytesPerRequest : 0),
    fits: (group: readonly Entry[], entry: Entry): boolean =>
      group.length < records &&
      weigh(group) + weightOf(entry) <= bytes &&
      !group.concat(entry).some(goesAlone),
    /** A request was answered. */
    passed: (): void => {
      records = Math.min(2 * records, capacity.records);
    },
    /** A request failed, and it cannot be told why: the next one has one record. */
    failed: (): void => {
      records = 1;
    },
    /** A request failed because of what was in it: each record goes on alone, and shows what it is worth. */
    split: (group: readonly Entry[]): void => {
      if (group.length === 1) return;
      for (const entry of group) Object.assign(troubles.of(entry), { isAlone: true, failures: 0 });
    },
    /** A request was too large for something on its way. */
    shrink: (group: readonly Entry[]): void => {
      bytes = Math.min(bytes, weigh(group) / 2);
    },
  };
};

export type Batching = ReturnType<typeof createBatching>;
