/**
 * How many records a relay with a queue in Redis takes in a second, in batches of 50, beside the same server that
 * reads each body and answers 204. The load maker runs on the same machine, so the ratios say more than the figures.
 * Run after the build.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { startProgram } from './support/start-program.mjs';
import { hasRedis, startRedis } from './support/start-redis.mjs';

const SECONDS = Number(process.env.SECONDS ?? 10);
const RECORDS = 50;
const CONNECTIONS = 8;
const ORIGIN = 'https://shop.example';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
let made = 0;
const nextBatch = () => {
  const n = made++;
  const records = Array.from({ length: RECORDS }, (_, i) => ({
    id: createHash('sha1').update(`${process.pid} ${n} ${i}`).digest('hex').slice(0, 21),
    type: 'event',
    body: {
      ...{
        project: 'shop',
        channel: 'web',
        event: 'Order placed',
        user_id: `user-${(n * 7 + i) % 5_000}`,
      },
      ...{ tags: { total: 42, currency: 'EUR' }, timestamp: '2026-01-01T00:00:00.000Z' },
    },
  }));
  return JSON.stringify({ sent_at: '2026-01-01T00:00:00.000Z', records });
};

/** Loads the servers evenly. `rate`: batches a second, as many as they take where it is left out. */
const load = async (urls, rate) => {
  const each = urls.map((url) =>
    autocannon({
      url: `${url}/a/v1/batch`,
      ...{ method: 'POST', connections: CONNECTIONS / urls.length, duration: SECONDS },
      ...(rate && { overallRate: rate / urls.length }),
      headers: { 'content-type': 'application/json', origin: ORIGIN },
      requests: [{ setupRequest: (request) => ({ ...request, body: nextBatch() }) }],
    }),
  );
  const results = await Promise.all(each);
  const sum = (read) => results.reduce((total, one) => total + read(one), 0);
  return {
    batches: sum((one) => one['2xx']) / SECONDS,
    p99: Math.max(...results.map(({ latency }) => latency.p99)),
    failed: sum(({ errors, non2xx }) => errors + non2xx),
  };
};
const rssMib = ({ pid }) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

if (hasRedis) {
  const redis = await startRedis();
  const service = await startProgram(path('support/instant-service.mjs'), {});
  const bare = await startProgram(path('support/bare-server.mjs'), {});
  const settings = {
    ...{ SERVICE_URL: service.url, SERVICE_TOKEN: 't', SITE_ORIGIN: ORIGIN, PROJECTS: 'shop' },
    ...{ CHANNELS: 'web', STORE_URL: redis.url, HOST: '127.0.0.1', PORT: '0' },
    ...{ RATE_LIMIT: 'off', CEILING: 'off' },
  };
  const startRelay = () => startProgram(path('../../dist/relay-program.js'), settings);
  const relays = [await startRelay()];
  const row = (name, { batches, p99, failed }, floor) =>
    console.log(
      name.padEnd(34),
      String(Math.round(batches * RECORDS)).padStart(8),
      (floor ? (batches / floor).toFixed(2) : '').padStart(12),
      String(p99).padStart(8),
      String(failed).padStart(8),
    );
  console.log('server'.padEnd(34), 'record/s', '÷ bare (204)', '  p99 ms', '  failed');
  try {
    await load([bare.url]); // once for nothing: the engines compile
    const floor = await load([bare.url]);
    row('answers 204', floor);
    await load([relays[0].url]);
    const full = await load([relays[0].url]);
    row('relay, queue in Redis', full, floor.batches);
    const before = rssMib(relays[0]);
    row('the same, at half of that', await load([relays[0].url], full.batches / 2), floor.batches);
    const after = rssMib(relays[0]);
    relays.push(await startRelay());
    const two = await load(relays.map(({ url }) => url));
    row('two processes over one Redis', two, floor.batches);
    console.log(`two ÷ one ${(two.batches / full.batches).toFixed(2)}`);
    console.log(
      `RSS before and after the paced run: ${before.toFixed(0)} and ${after.toFixed(0)} MiB`,
    );
  } finally {
    for (const one of [...relays, bare, service]) await one.kill();
    await redis.stop();
  }
}
