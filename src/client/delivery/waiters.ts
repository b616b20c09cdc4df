import type { FlushResult, Outcome } from '../types.js';

interface Waiter {
  /** It waits for records up to this place in the order of calls. */
  last: number;
  result: FlushResult;
  settle: (result: FlushResult) => void;
}

/** Counts outcomes for the callers of `flush()`, and settles their promises. */
export const createWaiters = () => {
  const waiters = new Set<Waiter>();
  return {
    add: (last: number): Promise<FlushResult> =>
      new Promise((settle) => {
        const result = { delivered: 0, retried: 0, rejected: 0, waiting: 0 };
        waiters.add({ last, result, settle });
      }),
    /** Counts the attempt of a record. */
    count: (outcome: Outcome): void => {
      const name = outcome === 'delivered' || outcome === 'rejected' ? outcome : 'retried';
      for (const { result } of waiters) result[name]++;
    },
    /** Settles the calls of which no record is under way any more. */
    settle: (isUnderWay: (last: number) => boolean, waiting: () => number): void => {
      for (const waiter of waiters) {
        if (isUnderWay(waiter.last)) continue;
        waiters.delete(waiter);
        waiter.settle({ ...waiter.result, waiting: waiting() });
      }
    },
  };
};

export type Waiters = ReturnType<typeof createWaiters>;
