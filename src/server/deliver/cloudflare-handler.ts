import { messageOf } from '../../interface/errors.js';
import { callback, positive, timer } from '../../interface/kinds.js';
import { CLOCK_KINDS, HOOK_KINDS, checkOptions, objectWith } from '../check-options.js';
import type { Delivery } from './delivery.js';
import { createRounds, type Undelivered } from './settle.js';
import { createTell, type Hooks } from '../hooks.js';
import type { GivenBack, QueuedRecord, Taken } from '../queue/ports.js';
import type { PlatformBatch, PlatformQueue } from '../queue/cloudflare/queue.js';

/** A message in the queue of dead letters. */
export interface DeadLetter {
  record: QueuedRecord;
  reason: string;
}

export interface QueueHandlerOptions extends Hooks {
  /** From `createDelivery`, with the `seen` of the relay. */
  delivery: Delivery;
  /** The queue for dead letters. Without it they are only reported to `onUndelivered`. */
  deadLetters?: PlatformQueue<DeadLetter> | undefined;
  /** Called for every record that becomes a dead letter. */
  onUndelivered?: ((undelivered: Undelivered) => void) | undefined;
  /** Milliseconds a record is kept. @default 259200000 (3 days: the platform keeps a message for 4) */
  maxAge?: number | undefined;
  /** Milliseconds after which no try at the service starts for a batch. @default 60000 */
  deadline?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
  /** In place of `Math.random`. */
  random?: (() => number) | undefined;
}

/** https://developers.cloudflare.com/queues/platform/limits/ */
const MAX_DELAY_S = 43_200;
/** How long the queue of dead letters may take. What is given up may be there all the same, and is put there again. */
const BURY_MS = 30_000;
/** How long a dead letter waits that could not be put into its queue. */
const BURY_AGAIN_MS = 60_000;

/**
 * Makes the `queue` handler of a worker that delivers what `createCloudflareQueue` has put. The platform
 * counts tries and drops a message after `max_retries` of the consumer: set that to 100, its most.
 * Order is kept within a batch only.
 *
 * @example
 * export default { fetch: relay, queue: createQueueHandler({ delivery, deadLetters: env.DEAD }) };
 */
export const createQueueHandler = (options: QueueHandlerOptions) => {
  checkOptions('createQueueHandler', options, {
    kinds: {
      delivery: objectWith('deliverEach', 'waitMs', 'clientWaitMs'),
      deadLetters: objectWith('sendBatch'),
      onUndelivered: callback,
      maxAge: positive,
      deadline: timer,
      ...HOOK_KINDS,
      ...CLOCK_KINDS,
    },
    required: ['delivery'],
  });
  const { delivery, deadLetters, onUndelivered, maxAge = 3 * 86_400_000 } = options;
  const { deadline = 60_000 } = options;
  const now = options.now ?? (() => Date.now());
  const random = options.random ?? (() => Math.random());
  const tell = createTell(options);
  const queueFailed = (error: unknown) => tell.error({ kind: 'queue', message: messageOf(error) });
  const deliver = createRounds({
    ...{ delivery, onUndelivered, maxAge, queueFailed, tell, now, ticks: now, random },
    lastMs: BURY_MS,
  });

  return async ({ messages }: PlatformBatch<QueuedRecord>): Promise<void> => {
    /** Those of which the platform has not been told what became of them. */
    const untold = new Map(messages.map((message) => [message.id, message]));
    const take = (id: string) => {
      const message = untold.get(id);
      untold.delete(id);
      return message;
    };
    const retry = (id: string, delayMs: number): void =>
      take(id)?.retry({
        delaySeconds: Math.min(MAX_DELAY_S, Math.ceil(delayMs / 1_000)),
      });
    const queue = {
      done: async (done: readonly Taken[]) => done.forEach(({ receipt }) => take(receipt)?.ack()),
      giveBack: async (back: readonly GivenBack[]) => {
        const waitMs = delivery.waitMs();
        for (const { taken, delayMs } of back) retry(taken.receipt, Math.max(delayMs, waitMs));
      },
      bury: async (taken: Taken, reason: string) => {
        const body = { record: taken.record, reason };
        await deadLetters?.sendBatch([{ body, contentType: 'json' }]);
        take(taken.receipt)?.ack();
      },
    };
    const round = messages.map(({ id, body, attempts }) => ({
      ...{ receipt: id, record: body, attempts },
    }));
    // The platform is told once what became of a message.
    await deliver(queue, round, { isQueued: true, until: now() + deadline }, -Infinity);
    // When this ends, it takes for done what it was told nothing of: what could not be buried, or not in time.
    for (const id of [...untold.keys()]) retry(id, BURY_AGAIN_MS);
  };
};
