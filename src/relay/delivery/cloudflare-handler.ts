import { messageOf } from '../../interface/errors.js';
import { callback, positive } from '../../interface/kinds.js';
import { CLOCK_KINDS, HOOK_KINDS, checkOptions, objectWith } from '../check-options.js';
import type { Delivery } from './delivery.js';
import { createRounds, wordsOf, type Undelivered } from './settle.js';
import { createTell, type Hooks } from '../hooks.js';
import type { QueuedRecord, Taken } from '../queue/ports.js';
import type { PlatformBatch, PlatformMessage, PlatformQueue } from '../queue/cloudflare/queue.js';

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

type Message = PlatformMessage<QueuedRecord>;

/** https://developers.cloudflare.com/queues/platform/limits/ */
const MAX_DELAY_S = 43_200;

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
      delivery: objectWith('deliver', 'waitMs', 'clientWaitMs'),
      deadLetters: objectWith('sendBatch'),
      onUndelivered: callback,
      maxAge: positive,
      deadline: positive,
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
  const rounds = createRounds({ delivery, onUndelivered, maxAge, tell, now, random });

  const retry = (message: Message, delayMs: number): void =>
    message.retry({ delaySeconds: Math.min(MAX_DELAY_S, Math.ceil(delayMs / 1_000)) });

  const giveUp = async (
    message: Message,
    reason: Undelivered['reason'],
    status = 0,
  ): Promise<void> => {
    const record = message.body;
    try {
      const body = { record, reason: wordsOf({ reason, status }) };
      await deadLetters?.sendBatch([{ body, contentType: 'json' }]);
    } catch (error) {
      tell.error({ kind: 'queue', message: messageOf(error) });
      return retry(message, 60_000);
    }
    message.ack();
    rounds.tellUndelivered({ record, reason, status });
  };

  return async ({ messages }: PlatformBatch<QueuedRecord>): Promise<void> => {
    const byId = new Map<string, Message>();
    const round = messages.map((message): Taken => {
      byId.set(message.id, message);
      return { receipt: message.id, record: message.body, attempts: message.attempts };
    });
    const messageOfTaken = ({ receipt }: Taken) => byId.get(receipt)!;
    const { done, dead, back } = await rounds.deliver(round, {
      isQueued: true,
      until: now() + deadline,
    });
    done.forEach((taken) => messageOfTaken(taken).ack());
    await Promise.all(
      dead.map(({ taken, reason, status }) => giveUp(messageOfTaken(taken), reason, status)),
    );
    const waitMs = delivery.waitMs();
    back.forEach(({ taken, delayMs }) => retry(messageOfTaken(taken), Math.max(delayMs, waitMs)));
  };
};
