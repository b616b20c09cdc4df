import type { BatchResult } from '../../interface/wire.js';
import type { Taken } from '../queue/ports.js';

/** A client is slow once one of its records has had no result for so long, until another one has it sooner. */
export const SLOW_MS = 1_000;
/** Slow clients that are remembered at the most. */
const MAX_SLOW = 1_000;

interface Effects {
  batchSize: number;
  concurrentBatches: number;
  /** The clock for waits. */
  ticks: () => number;
  /** Called when a place may be free again. */
  freed: () => void;
}

/** Records that were taken together. */
export interface Batch {
  /** Those to deliver, as long as they have no result. */
  waiting: ReadonlySet<Taken>;
  isSlow: (taken: Taken) => boolean;
  /** A record has a result. */
  ended: (taken: Taken, result: BatchResult) => void;
  /** The queue knows what became of so many records. */
  settled: (count: number) => void;
  /** Nothing more is done for any of the records. */
  end: () => void;
}

/**
 * Says when a consumer may take another batch: a batch holds a place until the queue knows the results of its records.
 * Those of a slow client hold none, or one client could stop all others with a few records. In return a slow client gets
 * no more than a quarter of a batch delivered at a time, and where there are many slow clients, so that the service
 * itself may be slow, their records count after all.
 */
export const createPlaces = ({ batchSize, concurrentBatches, ticks, freed }: Effects) => {
  const share = Math.ceil(batchSize / 4);
  const batches = new Set<{
    takenAt: number;
    /** All have failed before. */
    hasFailed: boolean;
    waiting: Set<Taken>;
    /** How many have a result that the queue does not know yet, or are to go back. */
    unsettled: number;
  }>();
  const slow = new Set<string>();
  /** Records that wait for a result, by client. */
  const counts = new Map<string, number>();

  const clientOf = ({ record }: Taken): string => record.sender ?? '';
  const isSlow = (taken: Taken): boolean => slow.has(clientOf(taken));
  const count = (taken: Taken, by: number): void => {
    const client = clientOf(taken);
    const sum = (counts.get(client) ?? 0) + by;
    if (sum) counts.set(client, sum);
    else counts.delete(client);
  };
  const noteSlow = (client: string): void => {
    // Where clients cannot be told apart, a slow record says nothing about the others.
    if (client) slow.add(client);
    if (slow.size > MAX_SLOW) slow.delete(slow.values().next().value!);
  };
  /** The batches that hold a place. */
  const held = () => {
    for (const { takenAt, waiting } of batches)
      if (ticks() - takenAt > SLOW_MS) for (const taken of waiting) noteSlow(clientOf(taken));
    return [...batches].filter(
      ({ waiting, unsettled }) => unsettled > 0 || ![...waiting].every(isSlow),
    );
  };

  return {
    isFull: (): boolean => {
      const ofBatches = held().length;
      let ofSlow = 0;
      for (const client of slow) ofSlow += Math.min(share, counts.get(client) ?? 0);
      return ofBatches + ofSlow / batchSize >= concurrentBatches;
    },
    /** How many places are held by batches of records that have all failed before. */
    failed: (): number => held().filter(({ hasFailed }) => hasFailed).length,
    add: (taken: readonly Taken[], takenAt: number): Batch => {
      const waiting = new Set<Taken>();
      for (const one of taken) {
        if (isSlow(one) && (counts.get(clientOf(one)) ?? 0) >= share) continue;
        waiting.add(one);
        count(one, 1);
      }
      const unsettled = taken.length - waiting.size;
      const hasFailed = taken.every(({ attempts }) => attempts > 1);
      const batch = { takenAt, hasFailed, waiting, unsettled };
      batches.add(batch);
      return {
        waiting,
        isSlow,
        ended: (one, { untried }) => {
          waiting.delete(one);
          count(one, -1);
          batch.unsettled++;
          if (!untried && ticks() - takenAt <= SLOW_MS) slow.delete(clientOf(one));
        },
        settled: (count) => {
          batch.unsettled -= count;
          freed();
        },
        end: () => {
          batches.delete(batch);
          freed();
        },
      };
    },
  };
};
