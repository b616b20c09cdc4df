import { join } from 'node:path';
import { createClient } from 'redis';
import { expect, it, onTestFinished } from 'vitest';
import { hasRedis, startRedis } from '../../support/start-redis.mjs';
import { createLibsqlQueue } from '../../../src/relay-libsql.js';
import { createRedisQueue } from '../../../src/relay-redis.js';
import type { Queue } from '../../../src/relay/queue/ports.js';
import { tempFolder } from '../../support/temp-folder.js';
import { back, idsOf, makeQueued } from './make-queued.js';

const HOUR_MS = 3_600_000;

const ENGINES: readonly (readonly [name: string, open: () => Promise<Queue>])[] = [
  [
    'libsql',
    async () => {
      const queue = createLibsqlQueue({ path: join(tempFolder(), 'queue.db') });
      onTestFinished(() => queue.close());
      return queue;
    },
  ],
  [
    'Redis',
    async () => {
      const server = await startRedis();
      const client = await createClient({ url: server.url }).connect();
      onTestFinished(async () => {
        client.destroy();
        await server.stop();
      });
      return createRedisQueue({ client });
    },
  ],
];

it.each(ENGINES.filter(([name]) => hasRedis || name !== 'Redis'))(
  'gives out at once what has failed and waits when it is told to, and nothing that is taken: %s',
  async (_, open) => {
    const queue = await open();
    const [failed, taken] = [makeQueued('a'), makeQueued('b')];
    await queue.put([failed]);
    await queue.giveBack(back(await queue.take(10, HOUR_MS), HOUR_MS));
    await queue.put([taken]);
    expect(idsOf(await queue.take(10, HOUR_MS))).toEqual([taken.id]);
    expect(await queue.take(10, HOUR_MS)).toEqual([]);
    await queue.tryNow!();
    const [again, ...others] = await queue.take(10, HOUR_MS);
    expect([again?.record.id, again?.attempts, others]).toEqual([failed.id, 2, []]);
  },
);
