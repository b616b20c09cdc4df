import type { FlushResult, Outcome } from '../types.js';

type Counts = Omit<FlushResult, 'waiting'>;

interface Waiter {
  /** The last record that it waits for, in the order of the calls. */
  last: number;
  /** How the counts stood as it began. */
  before: Counts;
  settle: (result: FlushResult) => void;
}

/** Callers of `flush()`, and what attempts come to meanwhile. */
export const createWaiters = () => {
  const counts: Counts = { delivered: 0, retried: 0, rejected: 0 };
  const waiters = new Set<Waiter>();
  return {
    add: (last: number): Promise<FlushResult> =>
      new Promise((settle) => waiters.add({ last, before: { ...counts }, settle })),
    /** A record has had its attempt. */
    count: (outcome: Outcome): void => {
      if (outcome === 'delivered' || outcome === 'rejected') counts[outcome]++;
      else counts.retried++;
    },
    /** Settles those none of whose records is under way any more. */
    settle: (isUnderWay: (last: number) => boolean, waiting: () => number): void => {
      for (const waiter of waiters) {
        const { last, before, settle } = waiter;
        if (isUnderWay(last)) continue;
        waiters.delete(waiter);
        settle({
          delivered: counts.delivered - before.delivered,
          retried: counts.retried - before.retried,
          rejected: counts.rejected - before.rejected,
          waiting: waiting(),
        });
      }
    },
  };
};

export type Waiters = ReturnType<typeof createWaiters>;
