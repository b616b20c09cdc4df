import { waitInTrouble } from '../../interface/backoff.js';
import { inTime } from '../../interface/in-time.js';
import { createTellDropped, type Tell } from '../hooks.js';
import type { BatchResult } from '../../interface/wire.js';
import type { GivenBack, Queue, QueuedRecord, Taken } from '../queue/ports.js';
import { retryLater, untried as notTried } from '../results.js';
import { keyOf } from '../incoming.js';
import { sleep } from '../time.js';
import type { Delivery, DeliverOptions } from './delivery.js';
import type { Batch } from './places.js';

/** A record that became a dead letter. */
export interface Undelivered {
  record: QueuedRecord;
  /** `rejected`: the service refused it. `expired`: it was older than `maxAge`. */
  reason: 'rejected' | 'expired';
  /** HTTP status of the last answer; 0 where there is none. */
  status: number;
}

/** What a consumer delivers to. */
export interface Target {
  /** Milliseconds until it is worth taking records; 0 when it is now. */
  waitMs: () => number;
  /** Ends all waits at once. */
  tryNow: () => void;
  /** Delivers a batch of a queue, and tells the queue what became of its records. */
  deliver: (
    queue: Pick<Queue, 'done' | 'giveBack' | 'bury'>,
    round: readonly Taken[],
    options: DeliverOptions,
    /** Until when nobody else gets the records, by `ticks`. Then what stays in the queue is delivered again. */
    ownUntil: number,
    /** Which of the records to deliver now; all, where nothing is said. The others wait, and go back. */
    batch?: Batch,
  ) => Promise<void>;
}

/** The queue is told so often what became of records while others of their batch have no result. */
const SETTLE_EVERY_MS = 100;
/** A record of a slow client waits as if its client had been slow for so long at the most. */
const LONGEST_SLOW_MS = 60_000;
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
  /** A queue is given this many milliseconds to answer, even if the batch's own time is over. */
  lastMs?: number | undefined;
}

/** Delivers batches to another service, record by record. */
export const createRounds = (effects: Effects): Target => {
  const { delivery, onUndelivered, maxAge, queueFailed, tell, now, ticks, random } = effects;
  const { lastMs = 1_000 } = effects;
  const tellDropped = createTellDropped(tell, now);
  /** Records that were delivered, and of which the queue does not know that yet. If they come again, they are not sent. */
  const delivered = new Set<string>();

  /** A record that fails waits by itself: a second at first, then about half the time for which it has failed. */
  const delayOf = ({ attempts, record, failingMs }: Taken): number =>
    waitInTrouble(failingMs ?? (attempts > 1 ? now() - record.at : 0), random());

  const deliver: Target['deliver'] = async (queue, round, options, ownUntil, batch) => {
    /** The other records of a slow client wait beside it for half of the time that they have waited already. */
    const slowDelayOf = (taken: Taken): number =>
      batch?.isSlow(taken)
        ? waitInTrouble(Math.min(LONGEST_SLOW_MS, now() - taken.record.at), random())
        : 0;
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

    /** Results that the queue does not know yet. */
    const ended = new Map<Taken, BatchResult>();
    const settle = async (): Promise<void> => {
      const settled = round.filter((taken) => ended.has(taken));
      const done: Taken[] = [];
      const back: GivenBack[] = [];
      const dead: Promise<void>[] = [];
      for (const taken of settled) {
        const { outcome, status, untried, retry_after: waitS = 0 } = ended.get(taken)!;
        ended.delete(taken);
        const { at, sender = '' } = taken.record;
        if (!untried) tell.metric('records', 1, { side: 'out', outcome });
        if (outcome === 'delivered' || outcome === 'accepted') done.push(taken);
        else if (outcome === 'rejected') dead.push(bury(taken, 'rejected', status));
        // It has not failed. It waits with its client, or for the store of ids, if that is why it was not tried; during
        // a pause of the service nothing is taken anyway.
        else if (untried) {
          const ownMs = delivery.waitMs() > 0 ? 0 : waitS * 1_000;
          const delayMs = delivery.clientWaitMs(sender) || ownMs || slowDelayOf(taken);
          back.push({ taken, delayMs, isTried: false });
        }
        // Only after it has been tried: the clock of this machine may be days ahead.
        else if (now() - at > maxAge && delivery.waitMs() === 0)
          dead.push(bury(taken, 'expired', status));
        else back.push({ taken, delayMs: delayOf(taken), isTried: true });
      }
      for (const { record } of done) delivered.add(keyOf(record));
      if (done.length && (await untilDone(() => queue.done(done))))
        for (const { record } of done) delivered.delete(keyOf(record));
      await Promise.all(dead);
      if (back.length) await untilDone(() => queue.giveBack(back));
      batch?.settled(settled.length);
    };

    const isDelivered = ({ record }: Taken) => delivered.size > 0 && delivered.has(keyOf(record));
    for (const taken of round)
      if (isDelivered(taken)) {
        const result: BatchResult = { id: taken.record.id, outcome: 'delivered', status: 200 };
        ended.set(taken, result);
        batch?.ended(taken, result);
      }
    const going = round.filter(
      (taken) => !ended.has(taken) && (!batch || batch.waiting.has(taken)),
    );
    for (const taken of round)
      if (!going.includes(taken) && !ended.has(taken))
        ended.set(taken, notTried(retryLater(taken.record.id, 0)));
    const results = delivery.deliver(
      going.map(({ record, attempts }) => ({ ...record, tries: attempts - 1 })),
      options,
    );
    let isOver = false;
    const all = Promise.all(
      results.map(async (promise, index) => {
        const [taken, result] = [going[index]!, await promise];
        ended.set(taken, result);
        batch?.ended(taken, result);
      }),
    ).then(() => void (isOver = true));
    while (!isOver || ended.size > 0) {
      await Promise.race([all, sleep(SETTLE_EVERY_MS)]);
      if (ended.size > 0) await settle();
    }
  };

  return { waitMs: delivery.waitMs, tryNow: delivery.tryNow, deliver };
};
