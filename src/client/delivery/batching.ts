import type { Entry } from '../outbox/parcel.js';
import type { Capacity } from './sender.js';
import type { Troubles } from './troubles.js';

/** How many records go into one request: as many as it takes, and fewer after trouble. */
export const createBatching = (capacity: Capacity, troubles: Troubles) => {
  let { records, bytes } = capacity;

  /** Bytes of these in a request, or a few more. */
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
