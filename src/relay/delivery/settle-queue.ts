import { inTime } from '../in-time.js';
import { sleep } from '../pause.js';
import type { Queue, Taken } from '../queue/ports.js';
import { wordsOf, type Undelivered } from './deliver-round.js';
import type { Settlement } from './settle-round.js';

/** Between two tries to tell a queue that fails what became of a batch. */
const AGAIN_MS = 500;
/** A queue is given this long to answer even when the time of the batch is over. */
const LAST_MS = 1_000;

interface Effects {
  queue: Queue;
  now: () => number;
  queueFailed: (error: unknown) => void;
  tellUndelivered: (undelivered: Undelivered) => void;
}

/** Tells a queue what became of the records of a batch. */
export const createQueueSettler = ({ queue, now, queueFailed, tellUndelivered }: Effects) => {
  /**
   * Tries until the queue has done it, or until the batch is this process's no longer. What was delivered
   * and stays in the queue is delivered again, so the waits are short.
   */
  const untilDone = async (until: number, work: () => Promise<void>): Promise<void> => {
    for (;;) {
      try {
        return await inTime(Math.max(LAST_MS, until - now()), work);
      } catch (error) {
        queueFailed(error);
        if (now() >= until) return;
        await sleep(AGAIN_MS);
      }
    }
  };

  const bury = async (
    taken: Taken,
    until: number,
    reason: Undelivered['reason'],
    status = 0,
  ): Promise<void> => {
    await untilDone(until, () => queue.bury(taken, wordsOf({ reason, status })));
    tellUndelivered({ record: taken.record, reason, status });
  };

  /** Records with the same delay are given back together. */
  const giveBack = async (back: Settlement['back'], until: number): Promise<void> => {
    for (const delayMs of new Set(back.map(([, delay]) => delay))) {
      const some = back.filter(([, delay]) => delay === delayMs).map(([taken]) => taken);
      await untilDone(until, () => queue.retry(some, delayMs));
    }
  };

  return {
    /** Buries what is too old to be sent. */
    expire: async (old: readonly Taken[], until: number): Promise<void> => {
      for (const taken of old) await bury(taken, until, 'expired');
    },
    settle: async ({ done, refused, back }: Settlement, until: number): Promise<void> => {
      if (done.length) await untilDone(until, () => queue.done(done));
      for (const [taken, status] of refused) await bury(taken, until, 'rejected', status);
      await giveBack(back, until);
    },
  };
};
