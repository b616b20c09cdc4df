import { callback, text } from '../../../interface/kinds.js';
import { checkOptions, count } from '../../check-options.js';
import { laneOf } from '../lane.js';
import type { DeadLetters, Queue, QueuedRecord, Taken } from '../ports.js';
import { MAX_WAITING, QueueFullError } from '../queue-full.js';
import { recordKeyOf } from '../record-key.js';
import { keyOf } from '../window.js';
import { createScript, REDIS_CLIENT, type RedisClient } from './client.js';
import { createRedisDeadLetters } from './dead-letters.js';
import { createQueueKeys } from './keys.js';
import { partitionOf } from './partition.js';
import { createReader } from './reader.js';
import { BURY, DONE, PUT, SIZE } from './scripts.js';

export interface RedisQueueOptions {
  /** A connected client of the `redis` package, version 5. */
  client: RedisClient;
  /** Begins the name of every key. @default 'analytics-outbox' */
  prefix?: string | undefined;
  /**
   * Streams that users are spread over. One process at a time reads each, so this is the most processes
   * that can share the work. The same in all of them; change it only while the queue is empty. @default 16
   */
  partitions?: number | undefined;
  /** Records that may wait; beyond them the relay answers 503. @default 1000000 */
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
    kinds: {
      client: REDIS_CLIENT,
      prefix: text,
      partitions: count,
      maxWaiting: count,
      now: callback,
    },
    required: ['client'],
  });
  const { client, prefix = 'analytics-outbox', partitions = 16 } = options;
  const { maxWaiting = MAX_WAITING, now = () => Date.now() } = options;
  const keys = createQueueKeys(prefix, partitions);
  const { ids, dead, streams, group } = keys;
  const put = createScript(client, PUT);
  const done = createScript(client, DONE);
  const bury = createScript(client, BURY);
  const size = createScript(client, SIZE);
  const reader = createReader({ client, keys, now });

  const placeOf = ({ receipt }: Taken): { partition: number; entry: string } => {
    const [partition, entry] = keyOf(receipt).split(' ');
    return { partition: Number(partition), entry: entry! };
  };
  const drop = (taken: Taken): void =>
    reader.windowOf(placeOf(taken).partition)?.remove(taken.receipt);

  /** One read at a time: two at once would both fill the same window. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };

  return {
    put: async (records) => {
      if (!records.length) return;
      const args = records.flatMap((record) => [
        partitionOf(laneOf(record), partitions) + 1,
        recordKeyOf(record),
        JSON.stringify(record),
      ]);
      const isPut = await put({ keys: [ids, ...streams], args: [maxWaiting, ...args] });
      if (isPut === 0) throw new QueueFullError(maxWaiting);
    },
    take: (limit, visibilityMs) => inTurn(() => reader.take(limit, visibilityMs)),
    done: async (taken) => {
      if (!taken.length) return;
      const args = taken.flatMap((one) => {
        const { partition, entry } = placeOf(one);
        return [partition, entry, recordKeyOf(one.record)];
      });
      await done({ keys: [ids, ...streams], args: [group, ...args] });
      taken.forEach(drop);
    },
    retry: async (taken, delayMs) => {
      for (const one of taken) {
        reader.windowOf(placeOf(one).partition)?.delay(one.receipt, now() + delayMs);
      }
    },
    bury: async (taken, reason) => {
      const { partition, entry } = placeOf(taken);
      const { record } = taken;
      await bury({
        keys: [ids, dead, streams[partition - 1]!],
        args: [group, entry, recordKeyOf(record), JSON.stringify(record), reason],
      });
      drop(taken);
    },
    size: async () => {
      const [waiting, buried, firsts] = (await size({ keys: [dead, ...streams], args: [] })) as [
        number,
        number,
        string[],
      ];
      const times = firsts.map((record) => (JSON.parse(record) as QueuedRecord).at);
      return { waiting, dead: buried, ...(times.length && { oldest: Math.min(...times) }) };
    },
    leave: () => inTurn(reader.leave),
    deadLetters: createRedisDeadLetters({ client, keys, maxWaiting, now }),
  };
};
