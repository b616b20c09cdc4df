import type { Entry } from '../outbox/parcel.js';
import type { Capacity } from './sender.js';
import type { Troubles } from './troubles.js';

/** How many records go into one request: as many as it can take, and fewer after a failure. */
export const createBatching = (capacity: Capacity, troubles: Troubles) => {
  let { records, bytes } = capacity;

  /** Bytes that these records take in a request, or a few more. */
  const weigh = (group: readonly Entry[]): number =>
    group.reduce((sum, { size }) => sum + size + capacity.bytesPerRecord, 0);

  return {
    weigh,
    fits: (group: readonly Entry[], entry: Entry): boolean => {
      const together = [...group, entry];
      return (
        together.length <= records &&
        weigh(together) <= bytes &&
        !together.some((one) => troubles.see(one).isAlone)
      );
    },
    /** Called when a request has passed: the next one may have twice as many records. */
    passed: (): void => {
      records = Math.min(2 * records, capacity.records);
    },
    /** Called when a request has failed, and it is not known why: the next one has one record. */
    failed: (): void => {
      records = 1;
    },
    /** Called when a request has failed because of one of its records: each goes alone, which shows which one it is. */
    split: (group: readonly Entry[]): void => {
      if (group.length === 1) return;
      for (const entry of group) Object.assign(troubles.of(entry), { isAlone: true, failures: 0 });
    },
    /** Called when a request was too large for something on its way: the next ones have half its bytes at most. */
    shrink: (group: readonly Entry[]): void => {
      bytes = Math.min(bytes, weigh(group) / 2);
    },
  };
};

export type Batching = ReturnType<typeof createBatching>;
