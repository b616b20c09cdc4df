/**
 * What a relay with a queue in Redis takes, and delivers meanwhile, in batches of 50: at full load, at 5,000 records a
 * second, and by two processes over one Redis; beside the same server that reads each body and answers 204. Load
 * maker, Redis and service run on the same machine, so the ratios say more than the figures. Run after the build.
 *
 * SECONDS: how long each part runs (10). PACED_SECONDS: how long the one at 5,000 a second runs, in which memory has
 * to stay flat (10). CPU_SHARE: gives each relay so much of a core, such as 0.35, so that two of them fit beside the
 * load maker on a machine with two cores.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { freePort } from '../../test/support/free-port.mjs';
import { cpuMs, limitCpu } from './support/share-of-cpu.mjs';
import { startProgram } from './support/start-program.mjs';
import { hasRedis, startRedis } from '../../test/support/start-redis.mjs';

const SECONDS = Number(process.env.SECONDS ?? 10);
const PACED_SECONDS = Number(process.env.PACED_SECONDS ?? SECONDS);
const CPU_SHARE = Number(process.env.CPU_SHARE ?? 0);
const PACE = 5_000;
const RECORDS = 50;
/** To each server, as each has visitors of its own. */
const CONNECTIONS = 8;
const ORIGIN = 'https://shop.example';
const MEMORY_EVERY_MS = 5_000;

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

const sumOf = (items, read) => items.reduce((total, one) => total + read(one), 0);
/** Records that a relay has delivered. */
const deliveredBy = async ({ adminUrl }) => {
  if (!adminUrl) return 0;
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/records_total\{outcome="delivered"\} (\d+)/.exec(text)?.[1] ?? 0);
};
const allDelivered = async (servers) => sumOf(await Promise.all(servers.map(deliveredBy)), Number);

/** Loads the servers alike. `rate`: batches a second, as many as they take where it is left out. */
const load = async (servers, { rate, seconds = SECONDS } = {}) => {
  const [delivered, cpu] = [await allDelivered(servers), sumOf(servers, ({ pid }) => cpuMs(pid))];
  const each = servers.map(({ url }) =>
    autocannon({
      url: `${url}/a/v1/batch`,
      ...{ method: 'POST', connections: CONNECTIONS, duration: seconds },
      ...(rate && { overallRate: rate / servers.length }),
      headers: { 'content-type': 'application/json', origin: ORIGIN },
      requests: [{ setupRequest: (request) => ({ ...request, body: nextBatch() }) }],
    }),
  );
  const results = await Promise.all(each);
  return {
    records: (sumOf(results, (one) => one['2xx']) * RECORDS) / seconds,
    delivered: ((await allDelivered(servers)) - delivered) / seconds,
    cores: (sumOf(servers, ({ pid }) => cpuMs(pid)) - cpu) / seconds / 1_000,
    p50: Math.max(...results.map(({ latency }) => latency.p50)),
    p99: Math.max(...results.map(({ latency }) => latency.p99)),
    failed: sumOf(results, ({ errors, non2xx }) => errors + non2xx),
  };
};

const rssMib = ({ pid }) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
/** Takes a relay's memory every few seconds, while something is done. */
const memoryDuring = async (relay, work) => {
  const samples = [rssMib(relay)];
  const timer = setInterval(() => samples.push(rssMib(relay)), MEMORY_EVERY_MS);
  const result = await work().finally(() => clearInterval(timer));
  return { result, samples };
};
const meanOf = (numbers) => sumOf(numbers, Number) / numbers.length;

const row = (name, floor, { records, delivered, cores, p50, p99, failed }) =>
  console.log(
    name.padEnd(30),
    ...[
      Math.round(records),
      Math.round(delivered),
      (records / floor).toFixed(2),
      ...[cores.toFixed(2), p50, p99, failed],
    ].map((cell) => String(cell).padStart(11)),
  );

if (hasRedis) {
  const redis = await startRedis();
  const service = await startProgram(path('support/instant-service.mjs'), {});
  const bare = await startProgram(path('support/bare-server.mjs'), {});
  const ending = [];
  const startRelay = async () => {
    const adminPort = await freePort();
    const relay = await startProgram(path('../../dist/relay-program.js'), {
      ...{ SERVICE_URL: service.url, SERVICE_TOKEN: 't', SITE_ORIGIN: ORIGIN, PROJECTS: 'shop' },
      ...{ CHANNELS: 'web', STORE_URL: redis.url, HOST: '127.0.0.1', PORT: '0' },
      ...{ RATE_LIMIT: 'off', CEILING: 'off', ADMIN_PORT: String(adminPort) },
    });
    if (CPU_SHARE) ending.push(limitCpu(relay.pid, CPU_SHARE));
    return { ...relay, adminUrl: `http://127.0.0.1:${adminPort}` };
  };
  const relays = [await startRelay()];
  console.log(`load of the machine before: ${loadavg()[0].toFixed(2)}`);
  console.log(
    ''.padEnd(30),
    ...['taken/s', 'delivered/s', '÷ bare', 'cores', 'p50 ms', 'p99 ms', 'failed'].map((name) =>
      name.padStart(11),
    ),
  );
  try {
    await load([bare]); // once for nothing: the engines compile
    const floor = await load([bare]);
    const print = (name, result) => row(name, floor.records, result);
    print('answers 204', floor);
    await load(relays);
    const full = await load(relays);
    print('relay, queue in Redis', full);
    const { result, samples } = await memoryDuring(relays[0], () =>
      load(relays, { rate: PACE / RECORDS, seconds: PACED_SECONDS }),
    );
    print(`the same, at ${PACE} a second`, result);
    relays.push(await startRelay());
    await load(relays);
    const two = await load(relays);
    print('two processes over one Redis', two);
    console.log(`two ÷ one: taken ${(two.records / full.records).toFixed(2)}`);
    const third = Math.ceil(samples.length / 3);
    console.log(
      `RSS at ${PACE} a second, mean of the first and the last third of ${PACED_SECONDS} s:`,
      `${meanOf(samples.slice(0, third)).toFixed(0)} and ${meanOf(samples.slice(-third)).toFixed(0)} MiB,`,
      `${Math.max(...samples).toFixed(0)} at the most`,
    );
    console.log(`load of the machine after: ${loadavg()[0].toFixed(2)}`);
  } finally {
    for (const one of [...relays, bare, service]) await one.kill();
    ending.forEach((end) => end());
    await redis.stop();
  }
}
