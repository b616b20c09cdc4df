/** One relay process over Redis, as a site would run it. Prints its address; ends well on SIGTERM. */
import { serve } from '@hono/node-server';
import { createClient } from 'redis';
import { createNodeFetch } from '../../dist/relay-node.js';
import { createConsumer, createDelivery, createRelay } from '../../dist/relay.js';
import { createRedisQueue, createRedisSeen } from '../../dist/relay-redis.js';

const { SERVICE_URL, REDIS_URL, TOKEN, CONCURRENCY, VISIBILITY_MS } = process.env;

const client = await createClient({
  url: REDIS_URL,
  // What is asked for while Redis is away fails, and the relay answers so, instead of holding its clients.
  disableOfflineQueue: true,
  socket: { reconnectStrategy: 100 },
})
  .on('error', () => {})
  .connect();
const queue = createRedisQueue({ client });
const seen = createRedisSeen({ client });
const told = new Set();
const onError = ({ kind, message }) => {
  if (!told.has(kind)) console.error(`  relay ${process.pid}: ${kind}: ${message}`);
  told.add(kind);
};
const toService = { baseUrl: SERVICE_URL, token: TOKEN, seen, onError, fetch: createNodeFetch() };
const limits = { concurrency: Number(CONCURRENCY), timeout: 5_000 };

const relay = createRelay({
  ...toService,
  queue,
  origins: ['https://shop.example'],
  projects: ['crash'],
  channels: ['web'],
});
const consumer = createConsumer({
  queue,
  delivery: createDelivery({ ...toService, ...limits }),
  visibility: Number(VISIBILITY_MS),
  onError,
});
consumer.start();

const server = serve({ fetch: relay, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`Relay http://127.0.0.1:${port}`),
);
process.once('SIGTERM', async () => {
  server.close();
  await consumer.stop();
  await client.close();
});
