import { waitInTrouble } from '../../interface/backoff.js';
import { messageOf } from '../../interface/errors.js';
import { checkOptions } from '../check-options.js';
import { createTell } from '../hooks.js';
import { inTime } from '../in-time.js';
import { createPause } from '../pause.js';
import type { QueueSize, Taken } from '../queue/ports.js';
import { createTrouble } from '../trouble.js';
import { CONSUMER_KINDS, type ConsumerOptions } from './consumer-options.js';
import { createRounds } from './deliver-round.js';
import type { ServiceState } from './gate.js';
import { createQueueGauge, MEASURE_EVERY_MS } from './queue-gauge.js';
import { createQueueSettler } from './settle-queue.js';

export interface ConsumerHealth {
  service: ServiceState;
  /** Whether the queue can be read. */
  isReading: boolean;
  /** How full the queue was in the last 10 seconds, if it can say. */
  queue?: QueueSize;
}

export interface Consumer {
  /** How it stands with the queue and the service. Asks neither. */
  health(): ConsumerHealth;
  start(): void;
  /** Finishes the requests under way and gives all other records back to the queue. Then it settles. */
  stop(): Promise<void>;
}

const LONGEST_WAIT_MS = 30_000;

/**
 * Takes records from the queue and delivers them, as long as the service takes them.
 *
 * @throws TypeError that names each wrong option and what to write.
 */
export const createConsumer = (options: ConsumerOptions): Consumer => {
  checkOptions('createConsumer', options, {
    kinds: CONSUMER_KINDS,
    required: ['queue', 'delivery'],
  });
  const { queue, delivery, batchSize = 64, concurrentBatches = 4 } = options;
  const { visibilityTimeout = 90_000, maxAge = 7 * 86_400_000, pollInterval = 250 } = options;
  const { onUndelivered } = options;
  const now = options.now ?? (() => Date.now());
  const random = options.random ?? (() => Math.random());
  const tell = createTell(options);
  const pause = createPause();
  const gauge = createQueueGauge(queue, now, tell);
  const rounds = createRounds({ delivery, onUndelivered, tell, now, random });
  const { tellUndelivered } = rounds;
  const underWay = new Set<Promise<void>>();
  let running: Promise<unknown> | undefined;
  let isStopping = false;
  const trouble = createTrouble(tell, now);
  /** Since when the queue has failed. */
  let failingSince: number | undefined;

  const queueFailed = (error: unknown): number => {
    trouble.tell({ kind: 'queue', message: messageOf(error) });
    failingSince ??= now();
    return waitInTrouble(now() - failingSince, random);
  };
  const { expire, settle } = createQueueSettler({ queue, now, queueFailed, tellUndelivered });

  const deliver = async (taken: readonly Taken[], until: number): Promise<void> => {
    const isOld = ({ record }: Taken) => now() - record.at > maxAge;
    const old = taken.filter(isOld);
    await expire(old, until);
    const round = taken.filter((one) => !old.includes(one));
    if (!round.length) return;
    const lastStart = now() + visibilityTimeout / 3;
    const settlement = await rounds.deliver(round, {
      isQueued: true,
      get until() {
        return isStopping ? -Infinity : lastStart;
      },
    });
    const { back } = settlement;
    // When this process stops, others may have at once what it did not deliver.
    await settle(
      isStopping ? { ...settlement, back: back.map(([one]) => [one, 0]) } : settlement,
      until,
    );
  };

  /** Takes a batch and starts its delivery; says how long to wait before the next. */
  const takeBatch = async (): Promise<number> => {
    const wait = delivery.waitMs();
    if (wait > 0) return wait;
    const until = now() + visibilityTimeout;
    // What a queue gives after so long belongs to others already.
    const taken = await inTime(visibilityTimeout, () => queue.take(batchSize, visibilityTimeout));
    failingSince = undefined;
    trouble.healed();
    if (!taken.length) return pollInterval;
    const round = deliver(taken, until)
      .catch((error: unknown) => tell.error({ kind: 'relay', message: messageOf(error) }))
      .finally(() => underWay.delete(round));
    underWay.add(round);
    return 0;
  };

  const run = async (): Promise<void> => {
    while (!isStopping) {
      if (underWay.size >= concurrentBatches) {
        await Promise.race(underWay);
        continue;
      }
      const wait = await takeBatch().catch(queueFailed);
      if (wait > 0 && !isStopping) await pause.wait(Math.min(wait, LONGEST_WAIT_MS));
    }
  };

  /** Goes on beside the deliveries, since how full the queue is matters most while these take long. */
  const measure = async (): Promise<void> => {
    while (!isStopping) {
      await gauge.measure().catch(queueFailed);
      if (!isStopping) await pause.wait(MEASURE_EVERY_MS);
    }
  };

  return {
    health: () => {
      const size = gauge.last();
      return {
        service: delivery.state(),
        isReading: failingSince === undefined,
        ...(size && { queue: size }),
      };
    },
    start: () => {
      isStopping = false;
      running ??= Promise.all([run(), measure()]);
    },
    stop: async () => {
      isStopping = true;
      pause.endAll();
      await running;
      await Promise.all(underWay);
      running = undefined;
    },
  };
};
