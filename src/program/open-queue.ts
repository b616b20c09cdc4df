import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../util/errors.js';
import type { Queue } from '../relay.js';
import type { DeadLetters, IdBounds, QueueBounds, RedisClient } from '../relay-redis.js';
import { keyOf } from '../server/queue/redis/client.js';
import { load } from './load.js';

export interface QueueSettings {
  /** Address of a Redis or a folder. */
  url: string;
  /** Begins the names of keys in Redis. */
  prefix?: string | undefined;
  /** How much the queue keeps, and which ids it remembers. */
  bounds?: QueueBounds & IdBounds;
  /** Milliseconds for which Redis may be silent until its connection counts as lost. @default 5000 */
  silence?: number;
}

export interface OpenQueue {
  queue: Queue & { deadLetters: DeadLetters };
  close: () => Promise<void>;
}

/** Errors that do not pass by themselves, by the first word of the answer of Redis. */
const REDIS_REFUSALS: Readonly<Record<string, string>> = {
  MOVED:
    'this Redis is a cluster, in which another node has the keys: give a Redis that is none, or a cluster of one node',
  READONLY: 'this Redis is a replica, which takes no writes: give its master',
};
const REFUSED = /^(MOVED|READONLY|NOPERM)\b/;

/** Rejects if Redis will never take a record. Errors that pass by themselves are reported when records come. */
const tryWrite = async ({ sendCommand }: RedisClient, key: string): Promise<void> => {
  try {
    await sendCommand(['SET', key, '', 'PX', '1']);
  } catch (error) {
    const [word] = REFUSED.exec(messageOf(error)) ?? [];
    if (word) throw new Error(REDIS_REFUSALS[word] ?? messageOf(error), { cause: error });
  }
};

const openRedis = async (settings: QueueSettings): Promise<OpenQueue> => {
  const { url, prefix = 'analytics-outbox', bounds, silence = 5_000 } = settings;
  const { createClient } = await load('redis', () => import('redis'));
  const { createRedisQueue } = await import('../relay-redis.js');
  let isConnected = false;
  let problem: unknown;
  const client = createClient({
    url,
    // While Redis is away, commands fail at once, and pages keep their records.
    disableOfflineQueue: true,
    // Often enough that an answer comes within the time of silence.
    pingInterval: silence / 2.5,
    // If Redis is missing at the start, the address is wrong. Later it will come back.
    socket: {
      socketTimeout: silence,
      reconnectStrategy: (retries, cause) => (isConnected ? Math.min(retries * 50, 2_000) : cause),
    },
  }).on('error', (error) => (problem = error)); // every failing command reports it
  const away = (error: unknown) =>
    new Error(`Redis does not answer: ${messageOf(error)}`, { cause: error });
  try {
    await client.connect();
  } catch (error) {
    throw away(error);
  }
  isConnected = true;
  try {
    await tryWrite({ sendCommand: (args) => client.sendCommand(args) }, keyOf(prefix, 'start'));
  } catch (error) {
    client.destroy();
    throw error;
  }
  const asked = {
    sendCommand: (args: string[]): Promise<unknown> =>
      client.sendCommand(args).catch((error: unknown) => {
        throw client.isReady ? error : away(problem ?? error);
      }),
  };
  return {
    queue: createRedisQueue({ client: asked, prefix, ...bounds }),
    close: async () => client.destroy(),
  };
};

const openFolder = async ({ url, bounds }: QueueSettings): Promise<OpenQueue> => {
  const { createLibsqlQueue } = await load('libsql', () => import('../relay-libsql.js'));
  const folder = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length);
  const queue = createLibsqlQueue({ path: join(folder, 'queue.db'), ...bounds });
  return { queue, close: async () => queue.close() };
};

/** Opens the queue, or rejects with words that name the setting. */
export const openQueue = async (settings: QueueSettings): Promise<OpenQueue> => {
  try {
    return await (settings.url.startsWith('file:') ? openFolder(settings) : openRedis(settings));
  } catch (error) {
    throw new Error(`\`QUEUE_URL\`: ${messageOf(error)}`, { cause: error });
  }
};
