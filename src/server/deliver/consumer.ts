import { waitInTrouble } from '../../interface/backoff.js';
import { messageOf } from '../../interface/errors.js';
import { inTime } from '../../interface/in-time.js';
import { callback, positive, timer } from '../../interface/kinds.js';
import {
  CLOCK_KINDS,
  HOOK_KINDS,
  checkOptions,
  count,
  objectWith,
  type Kinds,
} from '../check-options.js';
import { createReportOnce, createTell, type Hooks } from '../hooks.js';
import { monotonicNow } from '../time.js';
import type { Queue, QueueSize } from '../queue/ports.js';
import type { ServiceHealth } from './backoff.js';
import type { Delivery } from './delivery.js';
import { createPlaces, SLOW_MS } from './places.js';
import { createRounds, type Target, type Undelivered } from './settle.js';
import { createStoreRounds, type StoreTarget } from './store-rounds.js';

/** Options of `createConsumer`. */
export interface ConsumerOptions extends Hooks {
  /** The queue to empty. */
  queue: Queue;
  /** Delivers the records to another service, one request each: what `createDelivery` gives. Or give `store`. */
  delivery?: Delivery | undefined;
  /** Takes the records in batches: a service of this process. Into it nothing is given up because of its age. */
  store?: StoreTarget | undefined;
  /** Called with `{ record, reason, status }` for every record that becomes a dead letter. */
  onUndelivered?: ((undelivered: Undelivered) => void) | undefined;
  /** Records taken at a time. @default 64 */
  batchSize?: number | undefined;
  /**
   * Batches that are being delivered at a time. One place is kept for records that have not failed. A client whose
   * records take longer than a second holds none.
   * @default 4
   */
  concurrentBatches?: number | undefined;
  /**
   * Milliseconds for which nobody else gets the records of a batch, also if this process dies. No try starts after a third of it, and one takes up to four times the delivery's
   * `timeout`. @default 90000
   */
  visibilityTimeout?: number | undefined;
  /**
   * Milliseconds after which a record is tried once more, and is a dead letter if that fails; not with `store`.
   * @default 604800000 (7 days)
   */
  maxAge?: number | undefined;
  /** Milliseconds between two looks at a queue that has nothing to give. @default 250 */
  pollInterval?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
  /** In place of `Math.random`. */
  random?: (() => number) | undefined;
}

const KINDS: Kinds<ConsumerOptions> = {
  // Marked, so that a bundler leaves them out of a relay that has no consumer.
  queue: /* @__PURE__ */ objectWith('take', 'done', 'giveBack', 'bury'),
  delivery: /* @__PURE__ */ objectWith('deliver', 'waitMs', 'clientWaitMs', 'health', 'tryNow'),
  store: /* @__PURE__ */ objectWith('write'),
  onUndelivered: callback,
  batchSize: count,
  concurrentBatches: count,
  visibilityTimeout: timer,
  maxAge: positive,
  pollInterval: positive,
  ...HOOK_KINDS,
  ...CLOCK_KINDS,
};

export interface ConsumerHealth {
  /** How it stands with the service that records are delivered to, if they are. */
  service?: ServiceHealth;
  /** Whether the queue can be read. */
  isReading: boolean;
  /** How full the queue was in the last 10 seconds, if it can say. */
  queue?: QueueSize;
}

export interface Consumer {
  /** How it stands with the queue and the service. Asks neither. */
  health(): ConsumerHealth;
  start(): void;
  /** Ends all waits for the service at once, also one that it has asked for. */
  tryNow(): void;
  /** Finishes the requests under way and gives all other records back to the queue. Then it settles. */
  stop(): Promise<void>;
}

const LONGEST_WAIT_MS = 30_000;
const MEASURE_EVERY_MS = 10_000;
/** After so many batches in a row, one of records that have failed goes first. */
const FRESH_IN_ROW = 3;

/**
 * Takes records from the queue and delivers them, as long as the service takes them.
 *
 * @throws TypeError that names each wrong option and what to write.
 */
export const createConsumer = (options: ConsumerOptions): Consumer => {
  checkOptions('createConsumer', options, {
    kinds: KINDS,
    required: ['queue'],
    together: ({ delivery, store }, { missing, wrong }) => {
      if (!delivery && !store)
        missing('delivery', 'what `createDelivery` gives, or `store`: a service');
      if (delivery && store) wrong('store', 'goes without `delivery`');
    },
  });
  const { queue, store, batchSize = 64, concurrentBatches = 4, onUndelivered } = options;
  const { visibilityTimeout = 90_000, maxAge = 7 * 86_400_000, pollInterval = 250 } = options;
  const { now = () => Date.now(), random = () => Math.random() } = options;
  const tell = createTell(options);
  const ticks = options.now ?? monotonicNow;
  const underWay = new Set<Promise<void>>();
  const places = createPlaces({ batchSize, concurrentBatches, ticks, freed: () => wake() });
  let running: Promise<void> | undefined;
  let measuring: ReturnType<typeof setInterval> | undefined;
  let isStopping = false;
  let freshInRow = 0;
  /** Ends the wait before the next look at the queue. */
  let wake = (): void => {};
  const trouble = createReportOnce(tell, now);
  /** Since when the queue has failed. */
  let failingSince: number | undefined;
  let size: QueueSize | undefined;

  const queueFailed = (error: unknown): number => {
    trouble.tell({ kind: 'queue', message: messageOf(error) });
    failingSince ??= ticks();
    return waitInTrouble(ticks() - failingSince, random());
  };
  const queueWorks = (): void => {
    failingSince = undefined;
    trouble.healed();
  };
  const target: Target = store
    ? createStoreRounds({ store, queueFailed, tell, ticks, random })
    : createRounds({
        ...{ delivery: options.delivery!, onUndelivered, maxAge, queueFailed, tell, now, ticks },
        random,
      });

  /** Takes a batch and starts its delivery; says how long to wait before the next. */
  const takeBatch = async (): Promise<number> => {
    const wait = target.waitMs();
    if (wait > 0) return wait;
    const askedAt = ticks();
    const ownUntil = askedAt + visibilityTimeout;
    const failed = places.failed();
    const mayFail = failed === 0 || failed < concurrentBatches - 1;
    // Where there are always fresh ones, those that have failed get a turn all the same.
    const hasTurn = mayFail && ++freshInRow > FRESH_IN_ROW;
    if (hasTurn) freshInRow = 0;
    const take = (only?: 'fresh' | 'failed') =>
      // What a queue gives after so long belongs to others already.
      inTime(queue.take(batchSize, visibilityTimeout, { only }), visibilityTimeout);
    let taken = hasTurn ? await take('failed') : [];
    if (!taken.length) taken = await take(mayFail ? undefined : 'fresh');
    queueWorks();
    if (!taken.length) {
      freshInRow = 0;
      return pollInterval;
    }
    const options = {
      isQueued: true as const,
      // A time by the clock that may be set, from one that goes on evenly: others wait for the queue's time, not for ours.
      get until() {
        return isStopping ? -Infinity : now() + askedAt + visibilityTimeout / 3 - ticks();
      },
    };
    const batch = places.add(taken, askedAt);
    const round = target
      .deliver(queue, taken, options, ownUntil, batch)
      .catch((error: unknown) => tell.error({ kind: 'fault', message: messageOf(error) }))
      .finally(() => {
        underWay.delete(round);
        batch.end();
      });
    underWay.add(round);
    return 0;
  };

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const run = async (): Promise<void> => {
    while (!isStopping) {
      // A client that turns out to be slow makes room without a word.
      const wait = places.isFull() ? SLOW_MS / 4 : await takeBatch().catch(queueFailed);
      if (wait > 0 && !isStopping) await pause(Math.min(wait, LONGEST_WAIT_MS));
    }
    await Promise.all(underWay);
  };

  const measure = async (): Promise<void> => {
    if (!queue.size) return;
    try {
      size = await inTime(queue.size(), MEASURE_EVERY_MS);
      // Nothing is taken during a pause, or while there is no room, so that this alone says how it stands with the queue.
      if (target.waitMs() > 0 || places.isFull()) queueWorks();
      const { waiting, dead, oldest } = size;
      tell.metric('queue_waiting', waiting);
      tell.metric('queue_dead', dead);
      tell.metric('queue_oldest_ms', oldest === undefined ? 0 : Math.max(0, now() - oldest));
    } catch (error) {
      queueFailed(error);
    }
  };

  /** Looks once whether what the queue stands on may lose records. */
  const check = async (): Promise<void> => {
    const warnings = (await queue.check?.().catch(() => [])) ?? []; // a queue that is away is told of elsewhere
    for (const message of warnings) tell.error({ kind: 'storage', message });
  };

  return {
    health: () => ({
      ...(options.delivery && { service: options.delivery.health() }),
      isReading: failingSince === undefined,
      ...(size && { queue: size }),
    }),
    start: () => {
      isStopping = false;
      if (running) return;
      void check();
      void measure();
      // Goes on beside the deliveries: how full the queue is matters most while these take long.
      measuring = setInterval(() => void measure(), MEASURE_EVERY_MS);
      running = run();
    },
    tryNow: () => {
      target.tryNow();
      void queue.tryNow?.().catch(queueFailed).finally(wake);
      wake();
    },
    stop: async () => {
      isStopping = true;
      wake();
      if (!running) return;
      await running;
      running = undefined;
      clearInterval(measuring);
      await measure(); // what is told last is what is left
    },
  };
};
