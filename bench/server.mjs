/**
 * What the server stores over a file and over Postgres, by HTTP, in batches of 50 and one by one. Beside it stand, in
 * turns and in the same run, "straight" (one process that writes the same rows into the same tables, 50 a transaction,
 * with fsync and without HTTP) and an empty server that only reads the body. The load maker and Postgres share the
 * machine, so the ratios and the CPU say more than the rates. Run after the build.
 *
 *     node bench/server.mjs                    all
 *     node bench/server.mjs --only file        one store; the other one: postgres
 *     node bench/server.mjs --seconds 10       how long each load lasts
 *     node bench/server.mjs --rounds 5         how often each is measured; the median counts
 *     node bench/server.mjs --settings '{"commit_delay":5000}'    settings of Postgres
 *     node bench/server.mjs --processes 2      servers over one store, together
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { findProgram } from '../test/support/find-program.mjs';
import { startPostgres } from '../test/support/start-postgres.mjs';
import { nextRecord } from './support/next-record.mjs';
import { startProgram } from './support/start-program.mjs';

const { values: given } = parseArgs({
  options: {
    only: { type: 'string', default: 'file,postgres' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    settings: { type: 'string', default: '{}' },
    processes: { type: 'string', default: '1' },
  },
});
const SECONDS = Number(given.seconds);
const ROUNDS = Number(given.rounds);
const PROCESSES = Number(given.processes);
const [BATCH, CONNECTIONS] = [50, 8];
const TOKEN = 'write-token-of-the-bench';
const ORIGIN = 'https://shop.example';
const folder = mkdtempSync(join(tmpdir(), 'bench-server-'));
const path = (name) => fileURLToPath(new URL(name, import.meta.url));

const batch = () => ({
  path: '/a/v1/batch',
  body: JSON.stringify({
    sent_at: new Date().toISOString(),
    records: Array.from({ length: BATCH }, nextRecord),
  }),
});
const single = () => {
  const { id, body } = nextRecord();
  return { path: '/v1/event', body: JSON.stringify(body), headers: { 'idempotency-key': id } };
};
const KINDS = { batches: [batch, BATCH], singles: [single, 1] };
const HEADERS = {
  ...{ 'content-type': 'application/json', origin: ORIGIN },
  authorization: `Bearer ${TOKEN}`,
};

/** Milliseconds of CPU that a process has had so far. Linux counts them in hundredths of a second. */
const cpuOf = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

/** Sends to servers alike, as fast as they answer, or so many records a second. */
const load = async (servers, kind, rate) => {
  const [make, size] = KINDS[kind];
  const before = servers.map(({ pid }) => cpuOf(pid));
  const results = await Promise.all(
    servers.map(({ url }) =>
      autocannon({
        ...{ url, method: 'POST', connections: CONNECTIONS, duration: SECONDS },
        ...(rate && { overallRate: Math.max(1, Math.round(rate / size / servers.length)) }),
        requests: [
          {
            setupRequest: (request) => {
              const { headers, ...rest } = make();
              return { ...request, ...rest, headers: { ...HEADERS, ...headers } };
            },
          },
        ],
      }),
    ),
  );
  const sum = (read) => results.reduce((total, one) => total + read(one), 0);
  const failed = sum(({ errors, non2xx }) => errors + non2xx);
  if (failed) console.log(`  ${failed} requests failed`);
  const records = sum((one) => one['2xx']) * size;
  const cpu = servers.reduce((total, { pid }, index) => total + cpuOf(pid) - before[index], 0);
  return {
    perSecond: records / SECONDS,
    p99: Math.max(...results.map(({ latency }) => latency.p99)),
    cpu: (cpu / records) * 1_000,
  };
};
const loadAndHalf = async (servers, kind) => {
  const full = await load(servers, kind);
  const { p99 } = await load(servers, kind, full.perSecond / 2);
  return { ...full, p99 };
};

/** Runs a program that prints what it has measured. */
const straight = async (url) => {
  const child = spawn(process.execPath, [path('support/straight.mjs')], {
    env: { ...process.env, DATABASE_URL: url, SECONDS, BATCH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  return JSON.parse(text);
};

const startServer = async (url) => {
  const server = await startProgram(path('../dist/program.js'), {
    ...{
      DATABASE_URL: url,
      DATA_FOLDER: mkdtempSync(join(folder, 'data-')),
      READ_TOKEN: 'read-token-of-the-bench',
    },
    ...{ HOST: '127.0.0.1', PORT: '0', SITE_ORIGIN: ORIGIN, PROJECTS: 'shop', CHANNELS: 'web' },
    ...{ WRITE_TOKENS: `shop=${TOKEN}`, RATE_LIMIT: 'off', CEILING: 'off' },
  });
  return { ...server, url: new URL(server.url).origin };
};

/** The median of each figure. */
const medianOf = (measured) => {
  const median = (name) =>
    measured.map((one) => one[name]).sort((a, b) => a - b)[measured.length >> 1];
  return Object.fromEntries(Object.keys(measured[0]).map((name) => [name, median(name)]));
};
const print = (...cells) =>
  console.log(cells.map((cell, n) => (n ? cell.padStart(14) : cell.padEnd(28))).join(''));
const printFigures = (name, { perSecond, cpu, p99 }, beside, floor) =>
  print(
    ...[
      name,
      String(Math.round(perSecond)),
      beside ? (perSecond / beside.perSecond).toFixed(2) : '',
    ],
    ...[floor ? (perSecond / floor.perSecond).toFixed(2) : '', cpu.toFixed(cpu < 10 ? 1 : 0)],
    p99 === undefined ? '' : `${p99} ms`,
  );

/** Measures a store beside the others, by turns, so that none of them has the quieter machine. */
const measure = async (name, urlOfStore, urlOfStraight) => {
  const bare = await startProgram(path('support/bare-server.mjs'), {});
  const servers = [];
  for (let n = 0; n < PROCESSES; n++) servers.push(await startServer(urlOfStore));
  for (const kind of Object.keys(KINDS)) await load(servers, kind); // as the engines compile
  const found = { floor: [], straight: [], batches: [], bareSingles: [], singles: [] };
  for (let round = 0; round < ROUNDS; round++) {
    found.floor.push(await load([bare], 'batches'));
    found.straight.push(await straight(urlOfStraight));
    found.batches.push(await loadAndHalf(servers, 'batches'));
    found.bareSingles.push(await load([bare], 'singles'));
    found.singles.push(await loadAndHalf(servers, 'singles'));
  }
  for (const server of [bare, ...servers]) await server.kill();
  const median = Object.fromEntries(
    Object.entries(found).map(([part, measured]) => [part, medianOf(measured)]),
  );
  print(`\n${name}`, 'records/s', '× straight', '× empty', 'CPU ms/1,000', 'p99 at half');
  printFigures('empty server, batches', median.floor);
  printFigures('straight', median.straight);
  printFigures('the server, batches', median.batches, median.straight, median.floor);
  printFigures('empty server, singles', median.bareSingles);
  printFigures('the server, singles', median.singles, undefined, median.bareSingles);
};

const STORES = {
  file: () =>
    measure(
      'over a file',
      `file:${join(folder, 'rows.db')}`,
      `file:${join(folder, 'straight.db')}`,
    ),
  postgres: async () => {
    if (!findProgram('postgres')) return;
    const postgres = await startPostgres(JSON.parse(given.settings));
    await measure('over Postgres', postgres.url, postgres.url);
    await postgres.stop();
  },
};
console.log(`load of the machine before: ${loadavg()[0].toFixed(2)}`);
for (const name of given.only.split(',')) await STORES[name]();
console.log(`load of the machine after: ${loadavg()[0].toFixed(2)}`);
rmSync(folder, { recursive: true, force: true });
