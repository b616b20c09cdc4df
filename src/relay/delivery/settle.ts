import { waitInTrouble } from '../../interface/backoff.js';
import { messageOf } from '../../interface/errors.js';
import type { BatchResult } from '../../interface/wire.js';
import { callHook, type Tell } from '../hooks.js';
import { inTime, sleep } from '../time.js';
import type { GivenBack, Queue, QueuedRecord, Taken } from '../queue/ports.js';
import type { Delivery, DeliverOptions } from './delivery.js';
import { createTellDropped } from '../report-once.js';

/** A record that became a dead letter. */
export interface Undelivered {
  record: QueuedRecord;
  /** `rejected`: the service refused it. `expired`: it was older than `maxAge`. */
  reason: 'rejected' | 'expired';
  /** HTTP status of the last answer; 0 where there is none. */
  status: number;
}

/** The reason as a dead letter has it. */
export const wordsOf = ({ reason, status }: Omit<Undelivered, 'record'>): string =>
  status ? `${reason} ${status}` : reason;

/** What to do with each record of a batch. */
export interface Settlement {
  done: Taken[];
  /** To be given up. */
  dead: { taken: Taken; reason: Undelivered['reason']; status: number }[];
  back: GivenBack[];
}

interface RoundEffects {
  delivery: Delivery;
  onUndelivered: ((undelivered: Undelivered) => void) | undefined;
  /** Milliseconds a record is kept. */
  maxAge: number;
  tell: Tell;
  now: () => number;
  random: () => number;
}

/** Delivers batches of a queue. The same for the consumer and for the handler on Cloudflare. */
export const createRounds = (effects: RoundEffects) => {
  const { delivery, onUndelivered, maxAge, tell, now, random } = effects;

  /** A record that fails waits by itself: a second at first, then about half the time for which it has failed. */
  const delayOf = ({ attempts, record, failingMs }: Taken): number =>
    waitInTrouble(failingMs ?? (attempts > 1 ? now() - record.at : 0), random);

  const settle = (round: readonly Taken[], results: readonly BatchResult[]): Settlement => {
    const settlement: Settlement = { done: [], dead: [], back: [] };
    round.forEach((taken, index) => {
      const { outcome, status, untried } = results[index] ?? ({} as Partial<BatchResult>);
      if (outcome === 'delivered' || outcome === 'accepted') settlement.done.push(taken);
      else if (outcome === 'rejected')
        settlement.dead.push({ taken, reason: 'rejected', status: status! });
      else if (untried) {
        // It waits with its client, if that is why it was not tried. It has not failed.
        const delayMs = delivery.clientWaitMs(taken.record.client ?? '');
        settlement.back.push({ taken, delayMs, isTried: false });
      }
      // Only after it has been tried: the clock of this machine may be days ahead.
      else if (now() - taken.record.at > maxAge && delivery.waitMs() === 0)
        settlement.dead.push({ taken, reason: 'expired', status: status ?? 0 });
      else settlement.back.push({ taken, delayMs: delayOf(taken), isTried: true });
    });
    return settlement;
  };

  return {
    /** Delivers a batch and says what to do with each of its records. Never rejects. */
    deliver: async (round: readonly Taken[], options: DeliverOptions): Promise<Settlement> => {
      const results = await delivery.deliver(
        round.map(({ record, attempts }) => ({ ...record, tries: attempts - 1 })),
        options,
      );
      for (const { outcome, untried } of results)
        if (!untried) tell.metric('records', 1, { side: 'out', outcome });
      return settle(round, results);
    },
    /** Tells the operator of a record that was given up. */
    tellUndelivered: (undelivered: Undelivered): void =>
      callHook(
        () => onUndelivered?.(undelivered),
        (error) =>
          tell.error({ kind: 'hook', message: `\`onUndelivered\` failed: ${messageOf(error)}` }),
      ),
  };
};

/** Between two tries to tell a queue that fails what became of a batch. */
const AGAIN_MS = 500;
/** A queue is given this long to answer even when the time of the batch is over. */
const LAST_MS = 1_000;

interface SettlerEffects {
  queue: Queue;
  now: () => number;
  queueFailed: (error: unknown) => void;
  tellUndelivered: (undelivered: Undelivered) => void;
  tell: Tell;
}

/** Tells a queue what became of the records of a batch. */
export const createQueueSettler = (effects: SettlerEffects) => {
  const { queue, now, queueFailed, tellUndelivered, tell } = effects;
  const tellDropped = createTellDropped(tell, now);

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

  const bury = async ({ taken, ...why }: Settlement['dead'][number], until: number) => {
    await untilDone(until, async () => tellDropped((await queue.bury(taken, wordsOf(why))) ?? {}));
    tellUndelivered({ record: taken.record, ...why });
  };

  return async ({ done, dead, back }: Settlement, until: number): Promise<void> => {
    if (done.length) await untilDone(until, () => queue.done(done));
    await Promise.all(dead.map((one) => bury(one, until)));
    if (back.length) await untilDone(until, () => queue.giveBack(back));
  };
};
