/**
 * What the service stores, in the snippet's batches of 50: in a file, in Postgres, and by two processes over one
 * Postgres; by the store alone, and by the program with its relay in front; each at full load, and the batch's time at
 * half of that. Beside it, the same server with nothing behind it. Load maker, services and Postgres run on one
 * machine, so the ratios say more than the figures. Run after the build.
 *
 * SECONDS: how long each part runs (10). MEMORY_SECONDS: how long the program runs at half of its load, while its
 * memory is taken (SECONDS). CPU_SHARE: gives each process that stores so much of a core, such as 0.3, so that two of
 * them fit beside the load maker and Postgres on a machine with two cores. `--store`: without the program.
 */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { cpuMs, limitCpu } from '../relay/support/share-of-cpu.mjs';
import { startProgram } from '../relay/support/start-program.mjs';
import { hasPostgres, startPostgres } from '../../test/support/start-postgres.mjs';
import { ORIGIN, startService } from './support/start-service.mjs';

const SECONDS = Number(process.env.SECONDS ?? 10);
const MEMORY_SECONDS = Number(process.env.MEMORY_SECONDS ?? SECONDS);
const CPU_SHARE = Number(process.env.CPU_SHARE ?? 0);
const isProgram = !process.argv.includes('--store');
const RECORDS = 50;
/** To each server, as each has visitors of its own. */
const CONNECTIONS = 8;
const MEMORY_EVERY_MS = 1_000;

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const sumOf = (items, read) => items.reduce((total, one) => total + read(one), 0);
const meanOf = (numbers) => sumOf(numbers, Number) / numbers.length;

/** What several did side by side. */
const together = (results) => ({
  records: sumOf(results, (one) => one.records),
  cores: sumOf(results, (one) => one.cores),
  p50: Math.max(...results.map(({ p50 }) => p50)),
  p99: Math.max(...results.map(({ p99 }) => p99)),
  failed: sumOf(results, ({ failed }) => failed),
});

/** Processes that call the store itself; `rate`: batches a second of all of them. */
async function writeIn(url, count, rate) {
  const env = { ...process.env, DATABASE_URL: url, SECONDS: String(SECONDS) };
  if (rate) env.RATE = String(rate / count);
  const start = async () => {
    const writer = fork(path('support/write-in-process.mjs'), { env });
    await once(writer, 'message');
    const end = CPU_SHARE ? limitCpu(writer.pid, CPU_SHARE) : () => {};
    return { writer, end };
  };
  const writers = await Promise.all(Array.from({ length: count }, start));
  const results = await Promise.all(
    writers.map(async ({ writer, end }) => {
      writer.send('go');
      const [[result]] = await Promise.all([once(writer, 'message'), once(writer, 'exit')]);
      end();
      return result;
    }),
  );
  return together(results);
}

let made = 0;
const nextBatch = () => {
  const n = made++;
  const records = Array.from({ length: RECORDS }, (_, i) => {
    const user_id = `user-${(n * 7 + i) % 5_000}`;
    const isIdentify = i % 10 === 0;
    return {
      id: createHash('sha1').update(`${process.pid} ${n} ${i}`).digest('hex').slice(0, 21),
      type: isIdentify ? 'identify' : 'event',
      body: isIdentify
        ? { project: 'shop', user_id, properties: { plan: 'pro', seen: n } }
        : {
            ...{ project: 'shop', channel: 'web', event: 'Order placed', user_id },
            ...{ tags: { total: 42, currency: 'EUR' }, timestamp: '2026-01-01T00:00:00.000Z' },
          },
    };
  });
  return JSON.stringify({ sent_at: '2026-01-01T00:00:00.000Z', records });
};

/** Loads servers alike, over HTTP. */
async function load(servers, { rate, seconds = SECONDS } = {}) {
  const cpu = sumOf(servers, ({ pid }) => cpuMs(pid));
  const each = servers.map(({ url }) =>
    autocannon({
      url: `${url}/a/v1/batch`,
      ...{ method: 'POST', connections: CONNECTIONS, duration: seconds },
      ...(rate && { overallRate: rate / servers.length }),
      headers: { 'content-type': 'application/json', origin: ORIGIN },
      requests: [{ setupRequest: (request) => ({ ...request, body: nextBatch() }) }],
    }),
  );
  const results = (await Promise.all(each)).map((one) => ({
    records: (one['2xx'] * RECORDS) / seconds,
    ...{ cores: 0, p50: one.latency.p50, p99: one.latency.p99, failed: one.errors + one.non2xx },
  }));
  const cores = (sumOf(servers, ({ pid }) => cpuMs(pid)) - cpu) / seconds / 1_000;
  return { ...together(results), cores };
}

const rssMib = ({ pid }) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
/** Takes the memory of a process again and again while something is done. */
async function memoryDuring(server, work) {
  const samples = [rssMib(server)];
  const timer = setInterval(() => samples.push(rssMib(server)), MEMORY_EVERY_MS);
  const result = await work().finally(() => clearInterval(timer));
  const third = Math.ceil(samples.length / 3);
  const [first, last] = [meanOf(samples.slice(0, third)), meanOf(samples.slice(-third))];
  const words = `${first.toFixed(0)} and ${last.toFixed(0)} MiB in the first and the last third`;
  return { result, words };
}

let floor = 1;
const row = (name, { records, cores, p50, p99, failed }) =>
  console.log(
    name.padEnd(34),
    ...[Math.round(records), (records / floor).toFixed(2), cores.toFixed(2)]
      .concat(
        [p50, p99].map((ms) => ms.toFixed(1)),
        failed,
      )
      .map((cell) => String(cell).padStart(9)),
  );

async function storeAlone(name, url, count) {
  await writeIn(url, count); // once for nothing: the engines compile, and the tables grow
  const full = await writeIn(url, count);
  row(`store alone, ${name}`, full);
  row('  at half of that', await writeIn(url, count, full.records / RECORDS / 2));
  return full;
}

async function throughHttp(name, url, count) {
  const start = async () => {
    const service = await startService(url, { isProgram });
    const end = CPU_SHARE ? limitCpu(service.pid, CPU_SHARE) : () => {};
    return { ...service, stop: () => service.stop().finally(end) };
  };
  const services = await Promise.all(Array.from({ length: count }, start));
  try {
    await load(services);
    const full = await load(services);
    row(`${isProgram ? 'program' : 'store by HTTP'}, ${name}`, full);
    const rate = full.records / RECORDS / 2;
    const half = () => load(services, { rate, seconds: MEMORY_SECONDS });
    const { result, words } = await memoryDuring(services[0], half);
    row('  at half of that', result);
    console.log(`  memory of a process in ${MEMORY_SECONDS} s: ${words}`);
    return full;
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}

async function measure(part) {
  const folder = mkdtempSync(join(tmpdir(), 'service-load-'));
  await part('file', `file:${join(folder, 'rows.db')}`, 1);
  rmSync(folder, { recursive: true, force: true });
  if (!hasPostgres) return;
  const ratio = [];
  for (const count of [1, 2]) {
    const postgres = await startPostgres(); // a new one, so that both begin with empty tables
    const name = count === 1 ? 'Postgres' : 'two over one Postgres';
    ratio.push((await part(name, postgres.url, count)).records);
    await postgres.stop();
  }
  console.log(`  two ÷ one: ${(ratio[1] / ratio[0]).toFixed(2)}`);
}

console.log(`load of the machine before: ${loadavg()[0].toFixed(2)}`);
const HEADINGS = ['records/s', '÷ bare', 'cores', 'p50 ms', 'p99 ms', 'failed'];
console.log(''.padEnd(34), ...HEADINGS.map((heading) => heading.padStart(9)));
const bare = await startProgram(path('../relay/support/bare-server.mjs'), {});
await load([bare]);
const answered = await load([bare]);
floor = answered.records;
row('answers 204', answered);
await bare.stop();
await measure(storeAlone);
await measure(throughHttp);
console.log(`load of the machine after: ${loadavg()[0].toFixed(2)}`);
