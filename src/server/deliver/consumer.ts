import { waitInTrouble } from '../../interface/backoff.js';
import { messageOf } from '../../util/errors.js';
import { inTime } from '../../util/in-time.js';
import { callback, positive } from '../../interface/kinds.js';
import { HOOK_KINDS, checkOptions, objectWith, type Kinds } from '../check-options.js';
import { createReportOnce, createTell, type Hooks } from '../hooks.js';
import { createPause, monotonicNow } from '../time.js';
import type { Queue, QueueSize, Taken } from '../queue/ports.js';
import type { ServiceHealth } from './backoff.js';
import type { Delivery } from './delivery.js';
import { createHand, type Undelivered } from './hand.js';
import { createServiceTarget, createStoreTarget, type StoreTarget } from './targets.js';
import { AGAIN_SHARE } from './turns.js';

/** Options of `createConsumer`. */
export interface ConsumerOptions extends Hooks {
  /** The queue to empty. */
  queue: Queue;
  /** Delivers the records to another service, one request each: the result of `createDelivery`. Or give `store`. */
  delivery?: Delivery | undefined;
  /** Takes the records in batches: a service of this process. With it no record is given up because of its age. */
  store?: StoreTarget | undefined;
  /** Called with `{ record, reason, status }` for every record that becomes a dead letter. */
  onUndelivered?: ((undelivered: Undelivered) => void) | undefined;
  /**
   * Milliseconds after which a record is tried once more, and becomes a dead letter if that fails; not with `store`.
   * @default 604800000 (7 days)
   */
  maxAge?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
}

const KINDS: Kinds<ConsumerOptions> = {
  // The marks let a bundler leave these out of a relay that has no consumer.
  queue: /* @__PURE__ */ objectWith('take', 'done', 'giveBack', 'bury'),
  delivery: /* @__PURE__ */ objectWith('deliver', 'waitMs', 'health', 'tryNow'),
  store: /* @__PURE__ */ objectWith('write'),
  onUndelivered: callback,
  maxAge: positive,
  ...HOOK_KINDS,
  now: callback,
};

export interface ConsumerHealth {
  /** The state of the service, if records are delivered to one. */
  service?: ServiceHealth;
  /** Whether the queue can be read. */
  isReading: boolean;
  /** How full the queue was in the last 10 seconds, if it can say. */
  queue?: QueueSize;
}

export interface Consumer {
  /** The state of the queue and the service, as far as it is known. Sends no request to either. */
  health(): ConsumerHealth;
  start(): void;
  /** Ends all waits at once, also those that the service has asked for. */
  tryNow(): void;
  /** Settles when the requests under way are finished and all other records are given back to the queue. */
  stop(): Promise<void>;
}

/** The wait before the next look at an empty queue. */
const POLL_MS = 250;
const LONGEST_WAIT_MS = 30_000;
const MEASURE_EVERY_MS = 10_000;
/** After this many batches of fresh records it is the turn of records that have failed. */
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
  return makeConsumer(options);
};

interface Sizes {
  /** Records taken at a time. */
  batchSize?: number;
  /** Records in hand at most: they are being delivered, or the queue does not know their end yet. */
  places?: number;
  /**
   * Milliseconds for which nobody else gets a record that was taken. No request starts after a third of this time, and
   * a request takes four times the delivery's `timeout` at most: the call for a token and the request itself, each
   * twice.
   */
  ownMs?: number;
}

/** The same with other sizes, for tests. */
export const makeConsumer = (options: ConsumerOptions, sizes: Sizes = {}): Consumer => {
  const { queue, delivery, store, onUndelivered, maxAge = 7 * 86_400_000 } = options;
  const { now = () => Date.now() } = options;
  const tell = createTell(options);
  const ticks = options.now ?? monotonicNow;
  const { batchSize = 64, places = 256 } = sizes;
  const { ownMs = Math.max(90_000, 6 * (delivery?.timeout ?? 0)) } = sizes;
  const underWay = new Set<Promise<void>>();
  let running: Promise<void> | undefined;
  let measuring: ReturnType<typeof setInterval> | undefined;
  let isStopping = false;
  let freshInRow = 0;
  const { pause, wake } = createPause();
  const trouble = createReportOnce(tell, now);
  /** Since when the queue has failed, and when it failed last. */
  let failingSince: number | undefined;
  let failedAt = -Infinity;
  let size: QueueSize | undefined;
  /** The last measuring has not failed. */
  let isMeasured = true;

  const queueFailed = (error: unknown): number => {
    trouble.tell({ kind: 'queue', message: messageOf(error) });
    failedAt = ticks();
    failingSince ??= failedAt;
    return waitInTrouble(ticks() - failingSince, Math.random());
  };
  const queueWorks = (): void => {
    failingSince = undefined;
    trouble.healed();
  };
  const target = store
    ? createStoreTarget({ store, tell, ticks })
    : createServiceTarget({ delivery: delivery!, maxAge, tell, now });
  const hand = createHand({
    ...{ queue, onUndelivered, queueFailed, tell, now, ticks },
    left: wake,
    isStopping: () => isStopping,
  });

  /** Whether there is no room for half a batch. Transactions for smaller ones cost too much. */
  const isFull = (): boolean => places - hand.size() < batchSize / 2;

  /** Takes records from the queue: fresh ones, and now and then those that have failed. */
  const take = async (): Promise<Taken[]> => {
    const limit = Math.min(batchSize, places - hand.size());
    const takeOf = (only?: 'fresh' | 'failed') =>
      // After this time the records may be taken by others.
      inTime(queue.take(limit, ownMs, { only }), ownMs);
    const mayFail = hand.failed() < places * AGAIN_SHARE;
    const hasTurn = mayFail && ++freshInRow > FRESH_IN_ROW;
    if (hasTurn) freshInRow = 0;
    const failed = hasTurn ? await takeOf('failed') : [];
    return failed.length ? failed : takeOf(mayFail ? undefined : 'fresh');
  };

  /** Takes a batch and starts its delivery. Returns how long to wait before the next. */
  const startBatch = async (): Promise<number> => {
    const waitMs = target.waitMs();
    if (waitMs > 0) return waitMs;
    if (isFull()) return POLL_MS;
    const askedAt = ticks();
    const taken = await take();
    queueWorks();
    if (!taken.length) {
      freshInRow = 0;
      return POLL_MS;
    }
    const deliverOptions = {
      // Counted from the call to the queue, so that a clock that is set meanwhile does not matter.
      get until() {
        return isStopping ? -Infinity : now() + askedAt + ownMs / 3 - ticks();
      },
    };
    const round = hand
      .deliver(taken, askedAt + ownMs, (going, settled) =>
        target.deliver(going, deliverOptions, settled),
      )
      .catch((error: unknown) => tell.error({ kind: 'fault', message: messageOf(error) }))
      .finally(() => underWay.delete(round));
    underWay.add(round);
    return 0;
  };

  const run = async (): Promise<void> => {
    while (!isStopping) {
      const waitMs = await startBatch().catch(queueFailed);
      if (waitMs > 0 && !isStopping) await pause(Math.min(waitMs, LONGEST_WAIT_MS));
    }
    await Promise.all(underWay);
  };

  const measure = async (): Promise<void> => {
    if (!queue.size) return;
    try {
      size = await inTime(queue.size(), MEASURE_EVERY_MS);
      // If no records are taken, because of a pause or a full hand, only this shows that the queue works again. A queue
      // that can be read may still refuse writes; then it has failed a moment ago.
      const isIdle = target.waitMs() > 0 || isFull();
      if (isIdle && ticks() - failedAt > MEASURE_EVERY_MS / 2) queueWorks();
      // The queue answers again, so records are taken now and not when the pause is over.
      if (!isMeasured) wake();
      isMeasured = true;
      const { waiting, dead, oldest } = size;
      tell.metric('queue_waiting', waiting);
      tell.metric('queue_dead', dead);
      tell.metric('queue_oldest_ms', oldest === undefined ? 0 : Math.max(0, now() - oldest));
    } catch (error) {
      isMeasured = false;
      queueFailed(error);
    }
  };

  /** Asks the queue once whether its set-up may lose records. */
  const check = async (): Promise<void> => {
    // If the queue is away, the next `take` reports it.
    const warnings = (await queue.check?.().catch(() => [])) ?? [];
    for (const message of warnings) tell.error({ kind: 'storage', message });
  };

  return {
    health: () => ({
      ...(delivery && { service: delivery.health() }),
      isReading: failingSince === undefined,
      ...(size && { queue: size }),
    }),
    start: () => {
      isStopping = false;
      if (running) return;
      void check();
      void measure();
      // By a timer of its own: how full the queue is matters most while deliveries take long.
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
      await measure(); // so that the last numbers are those of the records that are left
    },
  };
};
