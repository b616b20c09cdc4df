import { waitInTrouble } from '../../interface/backoff.js';
import { inTime } from '../../interface/in-time.js';
import { createTellDropped, type Tell } from '../hooks.js';
import type { GivenBack, Queue, QueuedRecord, Taken } from '../queue/ports.js';
import { sleep } from '../time.js';
import type { Delivery, DeliverOptions } from './delivery.js';

/** A record that became a dead letter. */
export interface Undelivered {
  record: QueuedRecord;
  /** `rejected`: the service refused it. `expired`: it was older than `maxAge`. */
  reason: 'rejected' | 'expired';
  /** HTTP status of the last answer; 0 where there is none. */
  status: number;
}

/** Between two tries to tell a queue that fails what became of a batch. */
const AGAIN_MS = 500;

interface Effects {
  delivery: Delivery;
  onUndelivered: ((undelivered: Undelivered) => void) | undefined;
  /** Milliseconds a record is kept. */
  maxAge: number;
  /** Called with each error of a queue. */
  queueFailed: (error: unknown) => void;
  tell: Tell;
  now: () => number;
  /** The clock for waits. */
  ticks: () => number;
  random: () => number;
  /** Milliseconds that a queue is given to answer even when the time of the batch is over. */
  lastMs?: number | undefined;
}

/** Returns a function that delivers a batch of a queue and tells the queue what became of its records. */
export const createRounds = (effects: Effects) => {
  const { delivery, onUndelivered, maxAge, queueFailed, tell, now, ticks, random } = effects;
  const { lastMs = 1_000 } = effects;
  const tellDropped = createTellDropped(tell, now);

  /** A record that fails waits by itself: a second at first, then about half the time for which it has failed. */
  const delayOf = ({ attempts, record, failingMs }: Taken): number =>
    waitInTrouble(failingMs ?? (attempts > 1 ? now() - record.at : 0), random());

  return async (
    queue: Pick<Queue, 'done' | 'giveBack' | 'bury'>,
    round: readonly Taken[],
    options: DeliverOptions,
    /** Until when nobody else gets the records, by `ticks`. Then what stays in the queue is delivered again. */
    ownUntil: number,
  ): Promise<void> => {
    /** Answers whether the queue has done it. */
    const untilDone = async (work: () => Promise<void>): Promise<boolean> => {
      for (;;) {
        try {
          await inTime(work(), Math.max(lastMs, ownUntil - ticks()));
          return true;
        } catch (error) {
          queueFailed(error);
          if (ticks() >= ownUntil) return false;
          await sleep(AGAIN_MS);
        }
      }
    };
    const bury = async (taken: Taken, reason: Undelivered['reason'], status: number) => {
      const words = status ? `${reason} ${status}` : reason;
      const isDead = await untilDone(async () => tellDropped(await queue.bury(taken, words)));
      const { record } = taken;
      if (isDead) tell.call('onUndelivered', () => onUndelivered?.({ record, reason, status }));
    };

    const results = await delivery.deliver(
      round.map(({ record, attempts }) => ({ ...record, tries: attempts - 1 })),
      options,
    );
    const done: Taken[] = [];
    const back: GivenBack[] = [];
    const dead: Promise<void>[] = [];
    round.forEach((taken, index) => {
      const { outcome, status, untried, retry_after: waitS = 0 } = results[index]!;
      const { at, client = '' } = taken.record;
      if (!untried) tell.metric('records', 1, { side: 'out', outcome });
      if (outcome === 'delivered' || outcome === 'accepted') done.push(taken);
      else if (outcome === 'rejected') dead.push(bury(taken, 'rejected', status));
      // It has not failed. It waits with its client, or for the store of ids, if that is why it was not tried; during a
      // pause of the service nothing is taken anyway.
      else if (untried) {
        const ownMs = delivery.waitMs() > 0 ? 0 : waitS * 1_000;
        back.push({ taken, delayMs: delivery.clientWaitMs(client) || ownMs, isTried: false });
      }
      // Only after it has been tried: the clock of this machine may be days ahead.
      else if (now() - at > maxAge && delivery.waitMs() === 0)
        dead.push(bury(taken, 'expired', status));
      else back.push({ taken, delayMs: delayOf(taken), isTried: true });
    });
    if (done.length) await untilDone(() => queue.done(done));
    await Promise.all(dead);
    if (back.length) await untilDone(() => queue.giveBack(back));
  };
};
