/**
 * The store in this process, without HTTP: how much it appends beside "straight" (one process that writes the same rows
 * into the same tables, 50 a transaction), how far its readers are behind meanwhile, and what large profiles of one sender
 * do to others. Postgres shares the machine, so the ratios say more than the rates. Run after the build.
 *
 *     node bench/store.mjs                    all
 *     node bench/store.mjs --only file        one store; the other one: postgres
 *     node bench/store.mjs --seconds 10       how long each load lasts
 *     node bench/store.mjs --rounds 5         how often each is measured; the median counts
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createLibsqlStore } from '../dist/service-libsql.js';
import { createPostgresStore } from '../dist/service-postgres.js';
import { findProgram } from '../test/support/find-program.mjs';
import { startPostgres } from '../test/support/start-postgres.mjs';
import { nextRecord } from './support/next-record.mjs';

const { values: given } = parseArgs({
  options: {
    only: { type: 'string', default: 'file,postgres' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
  },
});
const [SECONDS, ROUNDS] = [Number(given.seconds), Number(given.rounds)];
const [BATCH, WRITERS] = [50, 8];
const FAT_USERS = 200;

const incoming = ({ id, type, body }) => {
  const at = new Date().toISOString();
  return { id, type, body, text: JSON.stringify(body), calledAt: at, receivedAt: at };
};
const identify = (user, properties) => {
  const { id } = nextRecord();
  return incoming({ id, type: 'identify', body: { project: 'shop', user_id: user, properties } });
};
/** Every fifth record is an identify, if these are wanted. */
const batch = (hasIdentifies) =>
  Array.from({ length: BATCH }, (_, n) => {
    const record = nextRecord();
    return hasIdentifies && n % 5 === 0
      ? identify(record.body.user_id, { plan: `plan ${n}` })
      : incoming(record);
  });
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const behind = async (store, reader) =>
  (await store.behind()).find((one) => one.reader === reader).rows;

/** Writes as fast as the store takes it, with so many writers. Returns how much, and the slowest of a hundred writes. */
const load = async (store, writers, hasIdentifies) => {
  const startedAt = performance.now();
  const times = [];
  const write = async () => {
    while (performance.now() - startedAt < SECONDS * 1_000) {
      const at = performance.now();
      await store.write(batch(hasIdentifies));
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  const perSecond = (times.length * BATCH * 1_000) / (performance.now() - startedAt);
  const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)];
  return { perSecond, p99 };
};
/** Looks how many rows a reader is behind, again and again, until the work is done. Returns the most. */
const watch = async (store, reader, work) => {
  let isOver = false;
  void work.finally(() => (isOver = true));
  let most = 0;
  while (!isOver) {
    most = Math.max(most, await behind(store, reader));
    await sleep(50);
  }
  return most;
};
const straight = async (url) => {
  const path = fileURLToPath(new URL('support/straight.mjs', import.meta.url));
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, DATABASE_URL: url, SECONDS, BATCH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  return JSON.parse(text).perSecond;
};

const measure = async (name, store, urlOfStraight) => {
  await load(store, WRITERS, true); // as the engine compiles
  const ratios = [];
  for (let round = 0; round < ROUNDS; round++) {
    const beside = await straight(urlOfStraight);
    ratios.push((await load(store, WRITERS)).perSecond / beside);
  }
  console.log(`\n${name}\nbeside straight: ${median(ratios).toFixed(2)}`);

  const full = load(store, WRITERS, true);
  const [{ perSecond }, ...most] = await Promise.all([
    full,
    ...['sums', 'profiles'].map((reader) => watch(store, reader, full)),
  ]);
  const [sums, profiles] = most.map((rows) => Math.round((rows / perSecond) * 1_000));
  console.log(
    `at ${Math.round(perSecond)} records/s, one in five an identify: sums at most ${sums} ms behind, profiles ${profiles} ms`,
  );
  while ((await behind(store, 'sums')) + (await behind(store, 'profiles'))) await sleep(50);

  const rests = [];
  for (let n = 0; n < 20; n++) {
    await sleep(300);
    const at = performance.now();
    await store.write([identify(`rest ${n}`, { n })]);
    const isThere = async () =>
      (await store.profiles({ project: 'shop', user_id: `rest ${n}` }, { limit: 1 })).length;
    while (!(await isThere())) await sleep(2);
    rests.push(performance.now() - at);
  }
  console.log(`at rest, from identify to profile: at most ${Math.round(Math.max(...rests))} ms`);

  const alone = await load(store, 1);
  let isOver = false;
  const fat = (async () => {
    for (let n = 0; !isOver; n++) {
      const text = 'x'.repeat(1_000);
      const properties = Object.fromEntries(
        Array.from({ length: 60 }, (_, key) => [`${n % 2} ${key}`, text]),
      );
      await store.write([identify(`fat ${n % FAT_USERS}`, properties)]);
      await sleep(10);
    }
  })();
  const beside = load(store, 1);
  const [{ p99, perSecond: rate }, rows] = await Promise.all([
    beside,
    watch(store, 'sums', beside),
  ]);
  isOver = true;
  await fat;
  console.log(
    `${FAT_USERS} profiles of 60 kB, changed 100 times a second: sums at most ${Math.round((rows / rate) * 1_000)} ms behind, p99 of others ${Math.round(p99)} ms; without ${Math.round(alone.p99)} ms`,
  );
  await store.close();
};

const folder = mkdtempSync(join(tmpdir(), 'bench-store-'));
const STORES = {
  file: () =>
    measure(
      'over a file',
      createLibsqlStore({ path: join(folder, 'rows.db') }),
      `file:${join(folder, 'straight.db')}`,
    ),
  postgres: async () => {
    if (!findProgram('postgres')) return;
    const postgres = await startPostgres();
    await measure('over Postgres', await createPostgresStore({ url: postgres.url }), postgres.url);
    await postgres.stop();
  },
};
console.log(`load of the machine before: ${loadavg()[0].toFixed(2)}`);
for (const name of given.only.split(',')) await STORES[name]();
console.log(`load of the machine after: ${loadavg()[0].toFixed(2)}`);
rmSync(folder, { recursive: true, force: true });
