/**
 * How many records a second go through a relay's queue: put in batches of 50, then taken and delivered by
 * one consumer to a service that answers at once, in a process of its own. Run after the build.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from 'redis';
import { createConsumer, createDelivery, createSeenMemory } from '../../dist/relay.js';
import { createLibsqlQueue, createLibsqlSeen } from '../../dist/relay-libsql.js';
import { createNodeFetch } from '../../dist/relay-node.js';
import { createRedisQueue, createRedisSeen } from '../../dist/relay-redis.js';
import { startProgram } from './support/start-program.mjs';
import { hasRedis, startRedis } from '../../test/support/start-redis.mjs';

const RECORDS = 10_000;
const BATCH = 50;
const PUTS_AT_A_TIME = 4;

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const service = await startProgram(path('support/instant-service.mjs'), {});
const fetch = createNodeFetch();
const folder = mkdtempSync(join(tmpdir(), 'relay-speed-'));

console.log('queue                      put/s   delivered/s   CPU ms/record');
const queue = createLibsqlQueue({ path: join(folder, 'queue.db') });
const seen = createLibsqlSeen({ path: join(folder, 'seen.db') });
await measure('libsql', queue, seen);
queue.close();
seen.close();
if (hasRedis) {
  const redis = await startRedis();
  const client = await createClient({ url: redis.url }).connect();
  await measure('Redis, fsync always', createRedisQueue({ client }), createRedisSeen({ client }));
  await client.sendCommand(['CONFIG', 'SET', 'appendfsync', 'everysec']);
  await client.sendCommand(['FLUSHALL']);
  await measure(
    'Redis, fsync every second',
    createRedisQueue({ client }),
    createRedisSeen({ client }),
  );
  await client.sendCommand(['FLUSHALL']);
  await measure('the same, seen in memory', createRedisQueue({ client }), createSeenMemory());
  client.destroy();
  await redis.stop();
}
await service.stop();
rmSync(folder, { recursive: true });

async function measure(name, queue, seen) {
  const records = Array.from({ length: RECORDS }, (_, n) => ({
    id: `record-${n}`,
    type: 'event',
    body: {
      ...{ project: 'speed', channel: 'web', event: 'Order placed', user_id: `user-${n % 500}` },
      ...{ tags: { total: 42, currency: 'EUR' }, timestamp: new Date().toISOString() },
    },
    at: Date.now(),
  }));
  const puts = Array.from({ length: RECORDS / BATCH }, (_, i) =>
    records.slice(i * BATCH, (i + 1) * BATCH),
  );
  const putSeconds = await timed(() =>
    Promise.all(
      Array.from({ length: PUTS_AT_A_TIME }, async () => {
        for (let batch = puts.shift(); batch; batch = puts.shift()) await queue.put(batch);
      }),
    ),
  );
  const cpu = process.cpuUsage();
  const seconds = await timed(async () => {
    let left = RECORDS;
    let finished;
    const all = new Promise((resolve) => (finished = resolve));
    const counted = {
      ...queue,
      done: async (taken) => {
        await queue.done(taken);
        left -= taken.length;
        if (left <= 0) finished();
      },
    };
    const delivery = createDelivery({ baseUrl: service.url, token: 't', seen, fetch });
    const consumer = createConsumer({ queue: counted, delivery });
    consumer.start();
    await all;
    await consumer.stop();
  });
  const { user, system } = process.cpuUsage(cpu);
  const perRecord = (user + system) / 1_000 / RECORDS;
  console.log(
    name.padEnd(24),
    String(Math.round(RECORDS / putSeconds)).padStart(7),
    String(Math.round(RECORDS / seconds)).padStart(13),
    perRecord.toFixed(2).padStart(15),
  );
}

async function timed(work) {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}
