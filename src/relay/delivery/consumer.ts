import { delayAfter } from '../../interface/backoff.js';
import { messageOf } from '../../interface/errors.js';
import type { Delivery } from './delivery.js';
import { createRounds, wordsOf, type Undelivered } from './deliver-round.js';
import { createTell, type Hooks } from '../hooks.js';
import { inTime } from '../in-time.js';
import { createPause, sleep } from '../pause.js';
import type { Queue, Taken } from '../queue/ports.js';

export interface ConsumerOptions extends Hooks {
  queue: Queue;
  /** From `createDelivery`, with the `seen` of the relay. */
  delivery: Delivery;
  /** Hears of every record that is given up. */
  onUndelivered?: ((undelivered: Undelivered) => void) | undefined;
  /** Records taken at a time. @default 64 */
  batch?: number | undefined;
  /** Batches under way at a time. @default 4 */
  batches?: number | undefined;
  /**
   * Milliseconds a batch is this process's. When it dies, others get its records after so long. No try
   * starts after a third of it, and one takes up to four times the delivery's `timeout`. @default 90000
   */
  visibility?: number | undefined;
  /** Milliseconds a record is kept. @default 604800000 (7 days) */
  maxAge?: number | undefined;
  /** Milliseconds between two looks at an empty queue. @default 250 */
  idle?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
  /** In place of `Math.random`. */
  random?: (() => number) | undefined;
}

export interface Consumer {
  start(): void;
  /** Finishes what is under way and gives the rest back. Settles when nothing is held any more. */
  stop(): Promise<void>;
}

const LONGEST_WAIT_MS = 30_000;
/** Between two tries to tell a queue that fails what became of a batch. */
const SETTLE_AGAIN_MS = 500;
const MEASURE_EVERY_MS = 10_000;
/** What a queue has time for at the end of all waits. */
const LAST_MS = 1_000;

/** Takes records from the queue and delivers them, as long as the service takes them. */
export const createConsumer = (options: ConsumerOptions): Consumer => {
  const { queue, delivery, batch = 64, batches = 4, visibility = 90_000 } = options;
  const { maxAge = 7 * 86_400_000, idle = 250, onUndelivered } = options;
  const now = options.now ?? (() => Date.now());
  const random = options.random ?? (() => Math.random());
  const tell = createTell(options);
  const pause = createPause();
  const rounds = createRounds({ delivery, onUndelivered, tell, random });
  const underWay = new Set<Promise<void>>();
  let running: Promise<void> | undefined;
  let isStopping = false;
  let setupUntil = 0;
  let failures = 0;
  let measuredAt = -Infinity;

  const queueFailed = (error: unknown): number => {
    if (!failures) tell.error({ kind: 'queue', message: messageOf(error) });
    return Math.min(delayAfter(failures++, idle, random), LONGEST_WAIT_MS);
  };

  /**
   * What was delivered must leave the queue, or it is delivered again: tried as long as it is ours. Its
   * waits are short, for a queue that was away for a moment must not cost a repeat.
   */
  const surely = async (until: number, work: () => Promise<void>): Promise<void> => {
    for (;;) {
      try {
        return await inTime(Math.max(LAST_MS, until - now()), work);
      } catch (error) {
        queueFailed(error);
        if (now() >= until) return;
        await sleep(SETTLE_AGAIN_MS);
      }
    }
  };

  const giveUp = async (
    taken: Taken,
    until: number,
    reason: Undelivered['reason'],
    status = 0,
  ): Promise<void> => {
    await surely(until, () => queue.bury(taken, wordsOf({ reason, status })));
    rounds.tellUndelivered({ record: taken.record, reason, status });
  };

  /** Records with the same delay are given back together. */
  const giveBack = async (back: readonly [Taken, number][], until: number): Promise<void> => {
    for (const delayMs of new Set(back.map(([, delay]) => delay))) {
      const some = back.filter(([, delay]) => delay === delayMs).map(([taken]) => taken);
      await surely(until, () => queue.retry(some, delayMs));
    }
  };

  const deliver = async (taken: readonly Taken[], until: number): Promise<void> => {
    const isOld = ({ record }: Taken) => now() - record.at > maxAge;
    for (const old of taken.filter(isOld)) await giveUp(old, until, 'expired');
    const round = taken.filter((one) => !isOld(one));
    if (!round.length) return;
    const lastStart = now() + visibility / 3;
    const { done, refused, back, pauseMs } = await rounds.deliver(round, {
      isQueued: true,
      get until() {
        return isStopping ? -Infinity : lastStart;
      },
    });
    if (pauseMs) setupUntil = now() + pauseMs;
    if (done.length) await surely(until, () => queue.done(done));
    for (const [one, status] of refused) await giveUp(one, until, 'rejected', status);
    await giveBack(isStopping ? back.map(([one]) => [one, 0]) : back, until);
  };

  const measure = async (): Promise<void> => {
    if (!queue.size || now() - measuredAt < MEASURE_EVERY_MS) return;
    measuredAt = now();
    const { waiting, dead, oldest } = await inTime(MEASURE_EVERY_MS, () => queue.size!());
    tell.metric('queue_waiting', waiting);
    tell.metric('queue_dead', dead);
    tell.metric('queue_oldest_ms', oldest === undefined ? 0 : Math.max(0, now() - oldest));
  };

  /** Takes a batch and starts its delivery; says how long to wait before the next. */
  const takeBatch = async (): Promise<number> => {
    await measure();
    const wait = Math.max(setupUntil - now(), delivery.waitMs());
    if (wait > 0) return wait;
    const until = now() + visibility;
    // What a queue gives after so long is not this process's any more.
    const taken = await inTime(visibility, () => queue.take(batch, visibility));
    failures = 0;
    if (!taken.length) return idle;
    const round = deliver(taken, until)
      .catch((error: unknown) => tell.error({ kind: 'relay', message: messageOf(error) }))
      .finally(() => underWay.delete(round));
    underWay.add(round);
    return 0;
  };

  const run = async (): Promise<void> => {
    while (!isStopping) {
      if (underWay.size >= batches) {
        await Promise.race(underWay);
        continue;
      }
      const wait = await takeBatch().catch(queueFailed);
      if (wait > 0 && !isStopping) await pause.wait(Math.min(wait, LONGEST_WAIT_MS));
    }
  };

  return {
    start: () => {
      isStopping = false;
      running ??= run();
    },
    stop: async () => {
      isStopping = true;
      pause.endAll();
      await running;
      await Promise.all(underWay);
      running = undefined;
      await inTime(LAST_MS, () => queue.leave?.()).catch(
        (error: unknown) => void queueFailed(error),
      );
    },
  };
};
