import { nanoid } from 'nanoid';
import { callback, text } from '../../../interface/kinds.js';
import { checkOptions, count } from '../../check-options.js';
import { laneOf } from '../lane.js';
import type { DeadLetters, Queue, QueuedRecord, Taken } from '../ports.js';
import { MAX_WAITING, QueueFullError } from '../queue-full.js';
import { recordKeyOf } from '../record-key.js';
import { createScript, REDIS_CLIENT, type RedisClient } from './client.js';
import { createRedisDeadLetters } from './dead-letters.js';
import { createQueueKeys, putArgsOf } from './keys.js';
import { BURY, DONE, PUT, RETRY, SIZE, TAKE } from './scripts.js';

export interface RedisQueueOptions {
  /** A connected client of the `redis` package, version 5. */
  client: RedisClient;
  /** Begins the name of every key. @default 'analytics-outbox' */
  prefix?: string | undefined;
  /** Records that may wait, each counted once for every KiB of it; beyond them the relay answers 503. @default 1000000 */
  maxWaiting?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
}

export interface RedisQueue extends Required<Queue> {
  deadLetters: DeadLetters;
}

/**
 * A durable queue that many processes share, in Redis 7.0 or later. Redis decides how durable it is:
 * `appendonly yes` and `appendfsync always` survive a crash of the machine.
 */
export const createRedisQueue = (options: RedisQueueOptions): RedisQueue => {
  checkOptions('createRedisQueue', options, {
    kinds: { client: REDIS_CLIENT, prefix: text, maxWaiting: count, now: callback },
    required: ['client'],
  });
  const { client, prefix = 'analytics-outbox', maxWaiting = MAX_WAITING } = options;
  const { now = () => Date.now() } = options;
  const keys = createQueueKeys(prefix);
  const script = (source: string) => {
    const run = createScript(client, source);
    return (...args: (string | number)[]) => run({ keys: keys.all, args: [keys.lanes, ...args] });
  };
  const [put, take, done] = [script(PUT), script(TAKE), script(DONE)];
  const [retry, bury, size] = [script(RETRY), script(BURY), script(SIZE)];
  /** The token of the last call to `take` that failed: Redis may have done it, and the answer was lost. */
  let lost = '';

  return {
    put: async (records) => {
      if (!records.length) return;
      const isPut = await put(maxWaiting, ...records.flatMap(putArgsOf));
      if (isPut === 0) throw new QueueFullError(maxWaiting);
    },
    take: async (limit, visibilityMs) => {
      const token = nanoid();
      // Redis refuses a part of a millisecond.
      const found = await take(token, limit, Math.ceil(visibilityMs), lost).catch((error) => {
        lost = token;
        throw error;
      });
      lost = '';
      return (found as [tries: number, record: string][]).map(([tries, text]): Taken => {
        const record = JSON.parse(text) as QueuedRecord;
        return { receipt: `${token} ${recordKeyOf(record)}`, record, attempts: tries + 1 };
      });
    },
    done: async (taken) => {
      if (taken.length) await done(...taken.flatMap(placeOf));
    },
    retry: async (taken, delayMs) => {
      if (taken.length) await retry(Math.ceil(delayMs), ...taken.flatMap(placeOf));
    },
    bury: async (taken, reason) => {
      await bury(...placeOf(taken), JSON.stringify(taken.record), reason);
    },
    size: async () => {
      const [waiting, dead, oldest] = (await size()) as [number, number, string];
      return { waiting, dead, ...(oldest && { oldest: Number(oldest) }) };
    },
    deadLetters: createRedisDeadLetters({ client, keys, maxWaiting, now }),
  };
};

/** The token, lane and key of a record, as the scripts take them. */
const placeOf = ({ receipt, record }: Taken): string[] => [
  receipt.slice(0, receipt.indexOf(' ')),
  laneOf(record),
  recordKeyOf(record),
];
