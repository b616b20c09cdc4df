/**
 * What happens to the records of others while some records are refused: a service answers 500 or 403 to events named
 * `bad` and to identifies with `bad` properties. Over Redis, over a file, and without a queue, where the pages send again
 * what was not taken. Prints how many records of others were delivered within 5 seconds of their call, how late the
 * latest one was, and how long after the end the last good record came; fails where that is too little or too late.
 * Run after the build; CASES and ENGINES pick some by name, and DIST runs another build.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { hasRedis, startRedis } from '../../test/support/start-redis.mjs';

const SECONDS = Number(process.env.SECONDS ?? 20);
const DIST = resolve(process.env.DIST ?? 'dist');
const { createConsumer, createDelivery, createRelay } = await import(`${DIST}/relay.js`);
const { createNodeFetch } = await import(`${DIST}/relay-node.js`);

const ORIGIN = 'https://shop.example';
/** Records of others in a second; more where each visitor has one. */
const [VISITORS, MANY] = [20, 80];
const SOON_MS = 5_000;
const REST_MS = 60_000;

/** When each record was first stored, by its name. */
const stored = new Map();
let badStatus = 500;
const service = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks));
  const isBad = body.event?.startsWith('bad') || body.properties?.bad;
  if (!isBad && body.event && !stored.has(body.event)) stored.set(body.event, performance.now());
  response.writeHead(isBad ? badStatus : 200, { 'content-type': 'application/json' });
  response.end(isBad ? '{"code":1,"message":"no"}' : '{"success":true,"message":"ok"}');
}).listen(0, '127.0.0.1');
await once(service, 'listening');

const ENGINES = {
  Redis: hasRedis && {
    open: async () => {
      const { createRedisQueue, createRedisSeen } = await import(`${DIST}/relay-redis.js`);
      const server = await startRedis();
      const client = await createClient({ url: server.url }).connect();
      const close = async () => {
        client.destroy();
        await server.stop();
      };
      return { queue: createRedisQueue({ client }), seen: createRedisSeen({ client }), close };
    },
  },
  libsql: {
    open: async () => {
      const { createLibsqlQueue, createLibsqlSeen } = await import(`${DIST}/relay-libsql.js`);
      const folder = mkdtempSync(join(tmpdir(), 'relay-fairness-'));
      const queue = createLibsqlQueue({ path: join(folder, 'queue.db') });
      const seen = createLibsqlSeen({ path: join(folder, 'seen.db') });
      const close = async () => {
        queue.close();
        seen.close();
        rmSync(folder, { recursive: true });
      };
      return { queue, seen, close };
    },
  },
  'no queue': { open: async () => ({ close: async () => {} }) },
};

const startRelay = async ({ open }) => {
  const { queue, seen, close } = await open();
  const toService = {
    ...{ baseUrl: `http://127.0.0.1:${service.address().port}`, token: 't' },
    ...{ ...(seen && { seen }), fetch: createNodeFetch() },
  };
  const relay = createRelay({
    ...toService,
    ...{ origins: [ORIGIN], projects: ['shop'], channels: ['web'], ...(queue && { queue }) },
    clientAddress: (request) => request.headers.get('x-client') ?? undefined,
  });
  const consumer = queue && createConsumer({ queue, delivery: createDelivery(toService) });
  consumer?.start();
  return {
    relay,
    stop: async () => {
      await consumer?.stop();
      await close();
    },
  };
};

let made = 0;
const event = (name, user) => ({
  id: `r${++made}`,
  type: 'event',
  body: { project: 'shop', channel: 'web', event: name, ...(user && { user_id: user }) },
});
const identify = (user, properties) => ({
  id: `r${++made}`,
  type: 'identify',
  body: { project: 'shop', user_id: user, properties },
});

/** Sends records as a page does: again and again, until the relay has taken them or the page is gone. */
const send = async (relay, client, records, isGone) => {
  let left = records;
  for (let waitMs = 1_000; left.length && !isGone(); waitMs = Math.min(30_000, waitMs * 1.5)) {
    const request = new Request('http://relay.test/a/v1/batch', {
      method: 'POST',
      headers: { origin: ORIGIN, 'content-type': 'application/json', 'x-client': client },
      body: JSON.stringify({ sent_at: new Date().toISOString(), records: left }),
    });
    const response = await relay(request);
    const { results } = await response.json();
    const kept = (index) => !results || ['retry', 'blocked'].includes(results[index]?.outcome);
    left = left.filter((_, index) => kept(index));
    // As a page's choice: after a failure what has been tried goes alone, and what was not goes first.
    if (left.length > 1 && results) {
      const [first, ...rest] = [...left].reverse();
      void send(relay, client, rest, isGone);
      left = [first];
    }
    if (left.length) await sleep((0.5 + Math.random() / 2) * waitMs);
  }
};

/** Calls something so many times a second until the time is over. */
const often = async (perSecond, work) => {
  const end = performance.now() + SECONDS * 1_000;
  const began = performance.now();
  for (let n = 0; performance.now() < end; n++) {
    work(n);
    await sleep(Math.max(0, began + ((n + 1) * 1_000) / perSecond - performance.now()));
  }
};

const run = async (name, { open }, play) => {
  stored.clear();
  const { relay, stop } = await startRelay({ open });
  let isOver = false;
  const world = {
    called: new Map(),
    rest: new Map(),
    post: (client, records) => void send(relay, client, records, () => isOver),
    /** An event of somebody else. */
    other: (client, user) => {
      const one = event(`good ${++made}`, user);
      world.called.set(one.body.event, performance.now());
      world.post(client, [one]);
    },
  };
  await play(world);
  const ended = performance.now();
  const { called, rest } = world;
  const all = [...called.keys(), ...rest.keys()];
  const isDone = () => all.every((one) => stored.has(one));
  while (!isDone() && performance.now() < ended + REST_MS) await sleep(100);
  const late = [...called].map(([one, at]) => (stored.get(one) ?? Infinity) - at);
  const soon = late.filter((ms) => ms <= SOON_MS).length;
  const last = Math.max(0, ...all.map((one) => (stored.get(one) ?? Infinity) - ended));
  isOver = true;
  await stop();
  const percent = (100 * soon) / late.length;
  console.log(
    name.padEnd(46),
    `${soon} of ${late.length}`.padStart(12),
    `${percent.toFixed(1)} %`.padStart(9),
    Math.max(...late)
      .toFixed(0)
      .padStart(10),
    (last / 1_000).toFixed(1).padStart(9),
  );
  return { percent, last };
};

const stranger = (status) => async (world) => {
  badStatus = status;
  const flood = often(1, () =>
    world.post(
      '192.0.2.66',
      Array.from({ length: 50 }, (_, n) => event(`bad ${n}`)),
    ),
  );
  await Promise.all([flood, often(VISITORS, (n) => world.other(`203.0.113.${n % 250}`))]);
};
const CASES = {
  quiet: { most: 98, play: (world) => often(VISITORS, (n) => world.other(`203.0.113.${n % 250}`)) },
  'one client sends 50/s that are answered 500': { most: 98, play: stranger(500) },
  'one client sends 50/s that are answered 403': { most: 98, play: stranger(403) },
  'a fifth of visitors have one bad record': {
    most: 95,
    play: async (world) => {
      badStatus = 500;
      await often(MANY, (n) => {
        const client = `10.${(n >> 8) & 255}.${n & 255}.1`;
        if (n % 5) return world.other(client);
        const good = event(`good ${++made}`);
        world.rest.set(good.body.event, performance.now());
        world.post(client, [event(`bad ${n}`), good]);
      });
    },
  },
  'a stranger has sent an identify that fails': {
    most: 98,
    play: async (world) => {
      badStatus = 500;
      world.post('192.0.2.66', [identify('known', { bad: true })]);
      await sleep(500);
      await often(60 / SECONDS, () => world.other('203.0.113.1', 'known'));
    },
  },
};

console.log(
  ''.padEnd(46),
  ...['others', 'in 5 s', 'latest ms', 'rest, s'].map((word, n) =>
    word.padStart([12, 9, 10, 9][n]),
  ),
);
let isGood = true;
const isPicked = (name, list) => !list || list.split(',').some((part) => name.includes(part));
for (const [engine, parts] of Object.entries(ENGINES)) {
  if (!parts || !isPicked(engine, process.env.ENGINES)) continue;
  for (const [name, { most, play }] of Object.entries(CASES)) {
    if (!isPicked(name, process.env.CASES)) continue;
    const { percent, last } = await run(`${engine}: ${name}`, parts, play);
    isGood &&= percent >= most && last <= REST_MS;
  }
}
service.closeAllConnections();
service.close();
if (!isGood) console.error('FAILED: others had to wait for records that were not theirs');
process.exitCode = isGood ? 0 : 1;
