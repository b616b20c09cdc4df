import { waitInTrouble } from '../../interface/backoff.js';
import { inTime } from '../../interface/in-time.js';
import type { Tell } from '../hooks.js';
import type { Incoming } from '../incoming.js';
import { sleep } from '../time.js';
import type { GivenBack, Taken } from '../queue/ports.js';
import type { Target } from './settle.js';

/** A store in this process. It keeps a record that the database refuses among the refused. */
export interface StoreTarget {
  /**
   * Writes records in one transaction, but for those whose senders have to wait. Rejects if the database does not work;
   * then none of them is stored.
   */
  write(
    records: readonly Incoming[],
  ): Promise<
    readonly ({ outcome: 'stored' | 'known' | 'dead' } | { outcome: 'later'; waitMs: number })[]
  >;
}

interface Effects {
  store: StoreTarget;
  /** Called with each error of the queue. */
  queueFailed: (error: unknown) => void;
  tell: Tell;
  /** The clock for waits. */
  ticks: () => number;
  random: () => number;
}

/** Between two tries to tell a queue that fails what became of a batch. */
const AGAIN_MS = 500;
/** A queue is given at least so long to answer. */
const LAST_MS = 1_000;

/**
 * Writes batches into a store. While the store fails, records wait in the queue: the store knows repeats, so none of them
 * has to be told apart from the others.
 */
export const createStoreRounds = ({ store, queueFailed, tell, ticks, random }: Effects): Target => {
  let failingSince: number | undefined;
  let until = 0;

  const failed = (): void => {
    failingSince ??= ticks();
    until = ticks() + waitInTrouble(ticks() - failingSince, random());
  };

  const deliver: Target['deliver'] = async (queue, round, _, ownUntil) => {
    const untilDone = async (work: () => Promise<void>): Promise<void> => {
      for (;;) {
        try {
          return await inTime(work(), Math.max(LAST_MS, ownUntil - ticks()));
        } catch (error) {
          queueFailed(error);
          if (ticks() >= ownUntil) return;
          await sleep(AGAIN_MS);
        }
      }
    };
    try {
      const stored = await store.write(round.map(({ record }) => record));
      failingSince = undefined;
      until = 0;
      const done: Taken[] = [];
      const back: GivenBack[] = [];
      stored.forEach((one, index) => {
        const taken = round[index]!;
        if (one.outcome === 'later')
          return void back.push({ taken, delayMs: one.waitMs, isTried: false });
        const outcome = one.outcome === 'dead' ? 'rejected' : 'delivered';
        tell.metric('records', 1, { side: 'out', outcome });
        done.push(taken);
      });
      if (done.length) await untilDone(() => queue.done(done));
      if (back.length) await untilDone(() => queue.giveBack(back));
    } catch {
      failed();
      const back = round.map((taken) => ({ taken, delayMs: 0, isTried: false }));
      await untilDone(() => queue.giveBack(back));
    }
  };

  return {
    waitMs: () => Math.max(0, until - ticks()),
    tryNow: () => void (until = 0),
    deliver,
  };
};
