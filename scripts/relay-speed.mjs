/**
 * How many records a second go through a relay's queue: put in batches of 50, then taken and delivered by
 * one consumer to a service that answers at once. Run after the build.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'redis';
import { createConsumer, createDelivery, createSeenMemory } from '../dist/relay.js';
import { createLibsqlQueue, createLibsqlSeen } from '../dist/relay-libsql.js';
import { createRedisQueue, createRedisSeen } from '../dist/relay-redis.js';
import { hasRedis, startRedis } from './relay/start-redis.mjs';

const RECORDS = 10_000;
const BATCH = 50;
const PUTS_AT_A_TIME = 4;

const service = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"success":true,"message":"ok"}');
  });
}).listen(0, '127.0.0.1');
await once(service, 'listening');
const baseUrl = `http://127.0.0.1:${service.address().port}`;
const folder = mkdtempSync(join(tmpdir(), 'relay-speed-'));

console.log('queue                      put/s   delivered/s   CPU ms/record');
const path = join(folder, 'relay.db');
const [queue, seen] = [createLibsqlQueue({ path }), createLibsqlSeen({ path: `${path}.seen` })];
await measure('libsql', queue, seen);
queue.close();
seen.close();
if (hasRedis()) {
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
service.closeAllConnections();
service.close();
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
    const delivery = createDelivery({ baseUrl, token: 't', seen });
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
