/**
 * The relay over Redis, beside something else in the same run. Load maker, Redis and what is
 * loaded share the machine, so the ratios say more than the figures. Run after the build.
 *
 *     node bench/relay.mjs                   all
 *     node bench/relay.mjs --only drain      one part; the other: intake
 *     node bench/relay.mjs --seconds 30      how long each load lasts
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { createClient } from 'redis';
import { createRedisQueue } from '../dist/relay-redis.js';
import { npm } from '../packed/support/install-locked.mjs';
import { startRedis } from '../test/support/start-redis.mjs';
import { nextRecord } from './support/next-record.mjs';
import { startProgram } from './support/start-program.mjs';

const { values: given } = parseArgs({
  options: {
    only: { type: 'string' },
    seconds: { type: 'string', default: '10' },
    backlog: { type: 'string', default: '10000' },
  },
});
const SECONDS = Number(given.seconds);
const BATCH = 50;
const CONNECTIONS = 8;
const BACKLOG = Number(given.backlog);
const ORIGIN = 'https://shop.example';
const PEERS = fileURLToPath(new URL('../.tmp/bench', import.meta.url));
const path = (name) => fileURLToPath(new URL(name, import.meta.url));

const nextBatch = () => {
  const records = Array.from({ length: BATCH }, nextRecord);
  return JSON.stringify({ sent_at: new Date().toISOString(), records });
};
const HEADERS = { 'content-type': 'application/json', origin: ORIGIN };

/** Records a second that servers alike take together, and how long a batch waits. `rate`: batches a second. */
const load = async (servers, rate) => {
  const results = await Promise.all(
    servers.map(({ url }) =>
      autocannon({
        ...{ url: `${url}/a/v1/batch`, method: 'POST', headers: HEADERS },
        ...{ connections: CONNECTIONS, duration: SECONDS },
        ...(rate && { overallRate: Math.ceil(rate / servers.length) }),
        requests: [{ setupRequest: (request) => ({ ...request, body: nextBatch() }) }],
      }),
    ),
  );
  const sum = (read) => results.reduce((total, one) => total + read(one), 0);
  return {
    perSecond: (sum((one) => one['2xx']) * BATCH) / SECONDS,
    p99: Math.max(...results.map(({ latency }) => latency.p99)),
    failed: sum(({ errors, non2xx }) => errors + non2xx),
  };
};

const print = (name, value, ratio = '') =>
  console.log(name.padEnd(52), value.padStart(20), ratio.padStart(10));
const perSecond = (value) => `${Math.round(value)} records/s`;
const times = (ours, theirs) => `${(ours / theirs).toFixed(2)} ×`;

/** Full load once for nothing, as the engines compile; then full load, and half of it. */
const measureIntake = async (name, servers, beside) => {
  await load(servers);
  const full = await load(servers);
  const half = await load(servers, full.perSecond / BATCH / 2);
  const failed = full.failed + half.failed;
  print(`${name} takes`, perSecond(full.perSecond), beside && times(full.perSecond, beside));
  print('  p99 of a batch at half of that', `${half.p99} ms`, failed ? `${failed} failed` : '');
  return full.perSecond;
};

const startRelay = (redis, service, more = {}) =>
  startProgram(path('../dist/program.js'), {
    ...{ SERVICE_URL: service.url, SERVICE_TOKEN: 't', SITE_ORIGIN: ORIGIN, PROJECTS: 'shop' },
    ...{ CHANNELS: 'web', QUEUE_URL: redis.url, HOST: '127.0.0.1', PORT: '0' },
    ...{ RATE_LIMIT: 'off', CEILING: 'off', ...more },
  });
let hasPeers = false;
const startPeer = (redis, service, more) => {
  if (!hasPeers) {
    mkdirSync(PEERS, { recursive: true });
    writeFileSync(join(PEERS, 'package.json'), '{ "private": true }'); // or npm takes the folder above
    npm(PEERS, 'install', '--no-package-lock', 'express@5.3.0', 'bullmq@6.7.0', 'ioredis@5');
    hasPeers = true;
  }
  const env = { PEERS, REDIS_PORT: new URL(redis.url).port, SERVICE_URL: service.url };
  return startProgram(path('support/peer.mjs'), { ...env, ...more });
};
const startService = () => startProgram(path('support/instant-service.mjs'), {});

/** What one takes while it delivers, beside a server that reads each body and answers 204; and two over one Redis. */
const intake = async () => {
  const [redis, service] = [await startRedis(), await startService()];
  const bare = await startProgram(path('support/bare-server.mjs'), {});
  await load([bare]);
  const floor = (await load([bare])).perSecond;
  print('a server that answers 204 takes', perSecond(floor));
  await bare.kill();
  const relays = [await startRelay(redis, service)];
  const one = await measureIntake('the relay', relays, floor);
  relays.push(await startRelay(redis, service));
  const two = await load(relays);
  print('two relays over one Redis take', perSecond(two.perSecond), times(two.perSecond, one));
  for (const relay of relays) await relay.kill();
  await redis.stop();
  const other = await startRedis();
  const peer = await startPeer(other, service, { DRAINS: '1' });
  await measureIntake('Express and BullMQ', [peer], floor);
  for (const each of [peer, service]) await each.kill();
  await other.stop();
};

/** How fast a backlog goes out, by turns, so that none has the quieter machine. */
const drain = async () => {
  const service = await startService();
  const counted = async (query = '') => (await fetch(`${service.url}/count${query}`)).json();
  /** @param fill puts the backlog into a Redis @param start starts what empties it */
  const drainOnce = async ({ fill, start }) => {
    const redis = await startRedis();
    await fill(redis);
    await counted('?reset');
    const drainer = await start(redis);
    while ((await counted()).count < BACKLOG) await sleep(50);
    const { ms } = await counted();
    await drainer.kill();
    await redis.stop();
    return (BACKLOG / ms) * 1_000;
  };
  const batches = Array.from({ length: BACKLOG / BATCH }, nextBatch);
  const fillOurs = async ({ url }) => {
    const client = await createClient({ url }).connect();
    const queue = createRedisQueue({ client });
    for (const batch of batches) {
      const { records } = JSON.parse(batch);
      const time = new Date().toISOString();
      const checked = (record) => ({
        ...{ ...record, text: JSON.stringify(record.body) },
        ...{ calledAt: time, receivedAt: time, at: Date.parse(time) },
      });
      await queue.put(records.map(checked));
    }
    client.destroy();
  };
  const fillTheirs = async (redis) => {
    const peer = await startPeer(redis, service, {});
    for (const body of batches) {
      const response = await fetch(`${peer.url}/a/v1/batch`, {
        method: 'POST',
        headers: HEADERS,
        body,
      });
      if (!response.ok) throw new Error(`a batch was answered ${response.status}`);
      await response.text();
    }
    await peer.kill();
  };
  const WAYS = {
    'the relay': { fill: fillOurs, start: (redis) => startRelay(redis, service) },
    'Express and BullMQ': {
      fill: fillTheirs,
      start: (redis) => startPeer(redis, service, { DRAINS: '1' }),
    },
  };
  const speeds = new Map(Object.keys(WAYS).map((name) => [name, []]));
  for (let round = 0; round < 3; round++) {
    for (const [name, way] of Object.entries(WAYS)) speeds.get(name).push(await drainOnce(way));
    console.log(
      `  round ${round + 1}: ${[...speeds.values()].map((one) => Math.round(one.at(-1)))}`,
    );
  }
  const median = (name) => speeds.get(name).sort((a, b) => a - b)[1];
  const ours = median('the relay');
  for (const name of speeds.keys())
    print(`${name} delivers`, perSecond(median(name)), times(ours, median(name)));
  await service.kill();
};

const PARTS = { intake, drain };
console.log(`load of the machine before: ${loadavg()[0].toFixed(2)}`);
for (const name of given.only?.split(',') ?? Object.keys(PARTS)) await PARTS[name]();
console.log(`load of the machine after: ${loadavg()[0].toFixed(2)}`);
