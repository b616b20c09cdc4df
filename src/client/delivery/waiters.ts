import type { FlushResult, Outcome } from '../types.js';

interface Waiter {
  /** The last record that it waits for, in the order of the calls. */
  last: number;
  result: FlushResult;
  settle: (result: FlushResult) => void;
}

/** Callers of `flush()`, and what attempts come to meanwhile. */
export const createWaiters = () => {
  const waiters = new Set<Waiter>();
  return {
    add: (last: number): Promise<FlushResult> =>
      new Promise((settle) => {
        const result = { delivered: 0, retried: 0, rejected: 0, waiting: 0 };
        waiters.add({ last, result, settle });
      }),
    /** A record has had its attempt. */
    count: (outcome: Outcome): void => {
      const name = outcome === 'delivered' || outcome === 'rejected' ? outcome : 'retried';
      for (const { result } of waiters) result[name]++;
    },
    /** Settles those none of whose records is under way any more. */
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
