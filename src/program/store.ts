import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../interface/errors.js';
import type { Queue, Seen } from '../relay.js';
import type { DeadLetters } from '../relay-redis.js';

export interface Store {
  queue: Queue & { deadLetters: DeadLetters };
  seen: Seen;
  close: () => Promise<void>;
}

/** What a package gives, or words that say how to install it: the packages of the stores are optional. */
export const load = async <Module>(
  name: string,
  importIt: () => Promise<Module>,
): Promise<Module> => {
  try {
    return await importIt();
  } catch (error) {
    if (!messageOf(error).includes(`'${name}'`)) throw error;
    throw new Error(`the package ${name} is missing: npm install ${name}`, { cause: error });
  }
};

const openRedis = async (url: string): Promise<Store> => {
  const { createClient } = await load('redis', () => import('redis'));
  const { createRedisQueue, createRedisSeen } = await import('../relay-redis.js');
  let isConnected = false;
  const client = createClient({
    url,
    // What is asked for while Redis is away fails at once, and pages keep their records.
    disableOfflineQueue: true,
    // At the start a Redis that is not there is a wrong address. Later it comes back.
    socket: {
      reconnectStrategy: (retries, cause) => (isConnected ? Math.min(retries * 50, 2_000) : cause),
    },
  }).on('error', () => {}); // every command that fails tells the relay
  try {
    await client.connect();
  } catch (error) {
    throw new Error(`the Redis of STORE_URL does not answer: ${messageOf(error)}`, {
      cause: error,
    });
  }
  isConnected = true;
  return {
    queue: createRedisQueue({ client }),
    seen: createRedisSeen({ client }),
    close: async () => client.destroy(),
  };
};

const openFolder = async (url: string): Promise<Store> => {
  const { createLibsqlQueue, createLibsqlSeen } = await load(
    'libsql',
    () => import('../relay-libsql.js'),
  );
  const folder = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length);
  const queue = createLibsqlQueue({ path: join(folder, 'queue.db') });
  const seen = createLibsqlSeen({ path: join(folder, 'seen.db') });
  const close = async () => {
    queue.close();
    seen.close();
  };
  return { queue, seen, close };
};

export const openStore = (url: string): Promise<Store> =>
  url.startsWith('file:') ? openFolder(url) : openRedis(url);
