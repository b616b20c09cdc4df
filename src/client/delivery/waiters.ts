import type { Entry } from '../outbox/parcel.js';
import type { FlushResult, Outcome } from '../types.js';

interface Waiter {
  entries: Set<Entry>;
  result: FlushResult;
  settle: (result: FlushResult) => void;
}

/** Callers of `flush()`, each with the records it waits for. */
export const createWaiters = () => {
  const waiters = new Set<Waiter>();
  return {
    add: (entries: Iterable<Entry>): Promise<FlushResult> =>
      new Promise((settle) => {
        const result = { delivered: 0, retried: 0, rejected: 0, waiting: 0 };
        waiters.add({ entries: new Set(entries), result, settle });
      }),
    /** What other pages had left, and has been read just now, is due, too. */
    join: (entries: () => Iterable<Entry>): void => {
      for (const waiter of waiters) {
        for (const entry of entries()) {
          if (entry.order === 0 && entry.record.attempts === 0) waiter.entries.add(entry);
        }
      }
    },
    /** A record has had its attempt. */
    count: (entry: Entry, outcome: Outcome): void => {
      for (const { entries, result } of waiters) {
        if (!entries.delete(entry)) continue;
        if (outcome === 'delivered') result.delivered++;
        else if (outcome === 'rejected') result.rejected++;
        else result.retried++;
      }
    },
    /** Settles those whose records have all had their attempt; with `isIdle`, all of them. */
    settle: (isIdle: boolean, waiting: () => number): void => {
      for (const waiter of waiters) {
        if (!isIdle && waiter.entries.size > 0) continue;
        waiters.delete(waiter);
        waiter.settle({ ...waiter.result, waiting: waiting() });
      }
    },
  };
};
