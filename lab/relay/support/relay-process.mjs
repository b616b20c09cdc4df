/**
 * One relay process over Redis, as a site would run it. Prints its address; ends well on SIGTERM. For who
 * wants to know what a crash may cost, it keeps account of what it sends: `/account` answers with it, and
 * `/crash` has it written into the file ACCOUNT and the process killed, in one step.
 */
import { writeFileSync } from 'node:fs';
import { serve } from '@hono/node-server';
import { createClient } from 'redis';
import { createNodeFetch } from '../../../dist/relay-node.js';
import { createConsumer, createDelivery, createRelay } from '../../../dist/relay.js';
import { createRedisQueue, createRedisSeen } from '../../../dist/relay-redis.js';

const { SERVICE_URL, REDIS_URL, TOKEN, CONCURRENCY, VISIBILITY_MS, ACCOUNT } = process.env;

const client = await createClient({
  url: REDIS_URL,
  // What is asked for while Redis is away fails, and the relay answers so, instead of holding its clients.
  disableOfflineQueue: true,
  socket: { reconnectStrategy: 100 },
})
  .on('error', () => {})
  .connect();
const queue = createRedisQueue({ client });

/** Sent, and not yet known as delivered to all who share Redis. */
const inFlight = new Set();
/** Sent, and no answer came: whether they arrived cannot be told. */
const unanswered = new Set();
const ask = createNodeFetch();
const fetch = async (url, request) => {
  const id = request.headers['idempotency-key'];
  inFlight.add(id);
  return ask(url, request).catch((error) => {
    unanswered.add(id);
    throw error;
  });
};
const redisSeen = createRedisSeen({ client });
const seen = {
  ...redisSeen,
  finish: async (results) => {
    await redisSeen.finish(results);
    for (const { id: key, outcome } of results) {
      if (outcome !== 'accepted') inFlight.delete(key.split(':')[1]); // `event:<id>:<project>`
    }
  },
};
const account = () => ({ inFlight: [...inFlight], unanswered: [...unanswered] });

const told = new Set();
const onError = ({ kind, message }) => {
  if (!told.has(kind)) console.error(`  relay ${process.pid}: ${kind}: ${message}`);
  told.add(kind);
};
const toService = { baseUrl: SERVICE_URL, token: TOKEN, seen, onError, fetch };
const limits = { concurrency: Number(CONCURRENCY), timeout: 5_000 };

const relay = createRelay({
  ...toService,
  queue,
  origins: ['https://shop.example'],
  projects: ['crash'],
  channels: ['web'],
  rateLimit: false,
  ceiling: false,
});
const consumer = createConsumer({
  queue,
  delivery: createDelivery({ ...toService, ...limits }),
  visibilityTimeout: Number(VISIBILITY_MS),
  onError,
});
consumer.start();

const crash = () => {
  writeFileSync(ACCOUNT, JSON.stringify(account()));
  process.kill(process.pid, 'SIGKILL');
};
const answer = (request) => {
  const { pathname } = new URL(request.url);
  if (pathname === '/crash') crash();
  return pathname === '/account' ? Response.json(account()) : relay(request);
};
const server = serve({ fetch: answer, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`Relay http://127.0.0.1:${port}`),
);
process.once('SIGTERM', async () => {
  server.close();
  await consumer.stop();
  await client.close();
});
