import type { Entry } from '../outbox/parcel.js';
import type { Capacity } from './sender.js';

/** How many records go into one request. */
export const createBatching = (capacity: Capacity) => {
  let { bytes } = capacity;

  /** Bytes that these records take in a request, or a few more. */
  const weigh = (group: readonly Entry[]): number =>
    group.reduce((sum, { size }) => sum + size + capacity.bytesPerRecord, 0);

  return {
    weigh,
    /**
     * Whether the record can go with the group. Records of as many attempts go together, and half as many with each
     * attempt: so one that spoils every request is soon alone, and never takes fresh ones along.
     */
    fits: (group: readonly Entry[], { record, size }: Entry): boolean => {
      const { attempts } = record;
      return (
        group[0]!.record.attempts === attempts &&
        group.length < capacity.records / 2 ** attempts &&
        weigh(group) + size + capacity.bytesPerRecord <= bytes
      );
    },
    /** Called when a request was too large for something on its way: the next ones have half its bytes at most. */
    shrink: (group: readonly Entry[]): void => {
      bytes = Math.min(bytes, weigh(group) / 2);
    },
  };
};

export type Batching = ReturnType<typeof createBatching>;
