/**
 * What one client can do to the others: each attack runs for a few seconds against the program over Redis, while
 * other visitors go on. Prints how long these waited for their answers and what memory the relay took; fails where
 * the relay ends, or where others wait too long. Loopback only. Run after the build; CASES picks some by name.
 */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startProgram } from './support/start-program.mjs';
import { startRedis } from './support/start-redis.mjs';

const SECONDS = Number(process.env.SECONDS ?? 5);
const ORIGIN = 'https://shop.example';
const MIB = 1_048_576;
/** What others may wait for, and what the relay may take: generous, because the machine may be busy. */
const [MOST_P99_MS, MOST_RSS_MIB] = [2_000, 600];

const stored = new Map();
let isAway = false;
const service = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const name = String(JSON.parse(Buffer.concat(chunks)).event ?? 'identify');
  const status = isAway ? 503 : name === 'bad' ? 403 : 200;
  if (status === 200 && !stored.has(name)) stored.set(name, performance.now());
  response.writeHead(status).end('{"success":true}');
}).listen(0, '127.0.0.1');
await once(service, 'listening');

const eventOf = (id, event = id, user) => ({
  id,
  type: 'event',
  body: { project: 'shop', channel: 'web', event, ...(user && { user_id: user }) },
});
const batchOf = (records) => JSON.stringify({ sent_at: '2026-01-01T00:00:00.000Z', records });
let made = 0;
const nextId = () => `r${++made}`;

/** Runs something again and again, so many at a time, until the time is over. */
const flood = async (connections, work) => {
  const end = performance.now() + SECONDS * 1_000;
  const one = async () => {
    for (let n = 0; performance.now() < end && n < 100_000; n++)
      await work(n).catch(() => sleep(50));
  };
  await Promise.all(Array.from({ length: connections }, one));
};
const post = (relay, client, body, headers = {}) =>
  fetch(`${relay.url}/a/v1/batch`, {
    method: 'POST',
    headers: { origin: ORIGIN, 'content-type': 'application/json', 'x-client': client, ...headers },
    body,
  }).then(async (response) => (await response.arrayBuffer(), response.status));

/** Many clients together meet the ceiling of all, and so do the visitors: a relay cannot tell them apart. */
const MANY = 'the same, from 60 clients';
const GZIP = { 'content-encoding': 'gzip' };
const CASES = {
  quiet: async () => sleep(SECONDS * 1_000),
  'user ids of 1,000,000 characters': (relay) =>
    flood(4, () => {
      const body = {
        project: 'shop',
        user_id: `${nextId()}-`.padEnd(1_000_000, 'x'),
        properties: {},
      };
      const records = [{ id: nextId(), type: 'identify', body }];
      return post(relay, '192.0.2.66', gzipSync(batchOf(records)), GZIP);
    }),
  'a megabyte of {} in a kilobyte': async (relay) => {
    const body = gzipSync(`{"a":[${Array(349_000).fill('{}').join(',')}]}`);
    await flood(60, () => post(relay, '192.0.2.66', body, GZIP));
  },
  [MANY]: async (relay) => {
    const body = gzipSync(`{"a":[${Array(349_000).fill('{}').join(',')}]}`);
    await flood(60, (n) => post(relay, `198.51.100.${n % 60}`, body, GZIP));
  },
  'batches with wrong JSON': (relay) =>
    flood(20, () => post(relay, '192.0.2.66', '{'.repeat(100_000))),
  'half-sent bodies': async (relay) => {
    const { port } = new URL(relay.url);
    const head = [
      ...['POST /a/v1/batch HTTP/1.1', 'Host: x', `Origin: ${ORIGIN}`, 'X-Client: 192.0.2.66'],
      ...['Content-Type: application/json', `Content-Length: ${MIB}`, '', ''],
    ].join('\r\n');
    const sockets = Array.from({ length: 100 }, () => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      socket.write(head + 'x'.repeat(MIB - 1));
      return socket;
    });
    await sleep(SECONDS * 1_000);
    sockets.forEach((socket) => socket.destroy());
  },
  'pipelined requests for its health': async (relay) => {
    const workerData = { url: relay.url, path: process.env.HEALTH ?? '/ready', seconds: SECONDS };
    const pourer = new Worker(new URL('support/pour.mjs', import.meta.url), { workerData });
    await once(pourer, 'exit');
  },
  'one record that is answered 403': async (relay) => {
    await post(relay, '192.0.2.66', batchOf([eventOf(nextId(), 'bad')]));
    await sleep(SECONDS * 1_000);
  },
  'a service that is away for 3 s': async () => {
    isAway = true;
    await sleep(3_000);
    isAway = false;
    await sleep(Math.max(0, SECONDS - 3) * 1_000);
  },
};

/** Visitors with a batch of five records each, 20 a second, until they are told to stop. */
const startVisitors = (relay) => {
  const waits = [];
  const sent = new Map();
  let failed = 0;
  let isOver = false;
  const visit = async (n) => {
    const records = Array.from({ length: 5 }, () => eventOf(nextId()));
    const body = batchOf(records);
    const began = performance.now();
    const status = await post(relay, `203.0.113.${n % 250}`, body).catch(() => 0);
    waits.push(performance.now() - began);
    if (status === 200) for (const { id } of records) sent.set(id, began);
    else failed++;
  };
  const going = (async () => {
    const visits = [];
    for (let n = 0; !isOver && n < 10_000; n++) {
      visits.push(visit(n));
      await sleep(50);
    }
    await Promise.all(visits);
  })();
  return async () => {
    isOver = true;
    await going;
    return { waits: waits.sort((a, b) => a - b), sent, failed };
  };
};

const rssMib = (pid) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
const quantile = (sorted, part) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

const redis = await startRedis();
const row = (name, ...cells) =>
  console.log(name.padEnd(36), ...cells.map((cell) => String(cell).padStart(10)));
row('attack', 'p50 ms', 'p99 ms', 'refused', 'late ms', 'peak MiB');
let isGood = true;
try {
  for (const [name, attack] of Object.entries(CASES)) {
    if (process.env.CASES && !name.includes(process.env.CASES)) continue;
    const relay = await startProgram(
      fileURLToPath(new URL('../../dist/relay-program.js', import.meta.url)),
      {
        ...{ SERVICE_URL: `http://127.0.0.1:${service.address().port}`, SERVICE_TOKEN: 't' },
        ...{ SITE_ORIGIN: ORIGIN, PROJECTS: 'shop', CHANNELS: 'web', STORE_URL: redis.url },
        ...{ HOST: '127.0.0.1', PORT: '0', CLIENT_ADDRESS_HEADER: 'x-client' },
        NODE_OPTIONS: '--max-old-space-size=512',
      },
    );
    const stop = startVisitors(relay);
    await attack(relay);
    const { waits, sent, failed } = await stop();
    const all = () => [...sent.keys()].every((id) => stored.has(id));
    for (let tries = 0; tries < 300 && !all(); tries++) await sleep(100);
    const late = Math.max(
      0,
      ...[...sent].map(([id, began]) => (stored.get(id) ?? Infinity) - began),
    );
    const isAlive = relay.isAlive();
    const rss = isAlive ? rssMib(relay.pid) : NaN;
    const [p50, p99] = [quantile(waits, 0.5), quantile(waits, 0.99)];
    row(
      name,
      p50.toFixed(0),
      p99.toFixed(0),
      failed,
      late.toFixed(0),
      isAlive ? rss.toFixed(0) : 'DEAD',
    );
    isGood &&=
      isAlive &&
      p99 < MOST_P99_MS &&
      rss < MOST_RSS_MIB &&
      (failed === 0 || name === MANY) &&
      late < 10_000;
    await relay.kill();
    stored.clear();
  }
} finally {
  await redis.stop();
  service.closeAllConnections();
  service.close();
}
if (!isGood) console.error('FAILED: others waited too long, were refused, or the relay ended');
process.exitCode = isGood ? 0 : 1;
