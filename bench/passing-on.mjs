/**
 * Passing rows on to another service, from a file: how fast, and what becomes of others while something is wrong. Each run
 * prints a line. Load maker, service and program share the machine. Run after the build.
 *
 *     node bench/passing-on.mjs                      all
 *     node bench/passing-on.mjs --only speed,flood   some of: speed, client, poison, away, flood, parked, programs
 *     node bench/passing-on.mjs --program dist/program.js
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createLibsqlStore } from '../dist/service-libsql.js';
import { startPostgres } from '../test/support/start-postgres.mjs';
import { startProgram } from './support/start-program.mjs';

const { values: given } = parseArgs({
  options: {
    only: { type: 'string' },
    program: { type: 'string', default: resolve(import.meta.dirname, '../dist/program.js') },
  },
});
const ORIGIN = 'https://shop.example';
const folders = mkdtempSync(join(tmpdir(), 'bench-passing-'));
const newFolder = () => mkdtempSync(join(folders, 'data-'));

/** A record of a client; its tag says whose it is. */
const event = (client, user) => ({
  ...{ id: randomUUID(), type: 'event' },
  body: {
    ...{ project: 'shop', channel: 'web', event: 'Order placed', user_id: user },
    ...{ tags: { client }, timestamp: new Date().toISOString() },
  },
});
const identify = (client, user) => ({
  ...{ id: randomUUID(), type: 'identify' },
  body: { project: 'shop', user_id: user, properties: { client } },
});

/** A service; `rule` says for a client what is answered, and after which time. Status 0 is no answer. */
const startService = async () => {
  const service = { got: 0, ok: [], rule: () => ({}) };
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      service.got++;
      const { tags, properties } = JSON.parse(text);
      const { client } = tags ?? properties;
      const isIdentify = !tags;
      const { status = 200, ms = 0, headers = {} } = service.rule(client, isIdentify);
      if (!status) return;
      setTimeout(() => {
        if (status === 200) {
          const id = request.headers['idempotency-key'];
          service.ok.push({ client, isIdentify, id, at: performance.now() });
        }
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end('{"success":true}');
      }, ms);
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  service.url = `http://127.0.0.1:${server.address().port}`;
  service.count = (isMeant) => service.ok.filter(({ client }) => isMeant(client)).length;
  service.twice = () => service.ok.length - new Set(service.ok.map(({ id }) => id)).size;
  service.close = () => (server.closeAllConnections(), server.close());
  return service;
};

const start = (folder, service, more = {}) =>
  startProgram(given.program, {
    ...{ DATA_FOLDER: folder, READ_TOKEN: 'read-token-of-the-bench', WRITE_TOKENS: 'shop=token' },
    ...{ SERVICE_URL: service.url, SERVICE_TOKEN: 't', SITE_ORIGIN: ORIGIN, PROJECTS: 'shop' },
    ...{ CHANNELS: 'web', HOST: '127.0.0.1', PORT: '0', RATE_LIMIT: 'off', CEILING: 'off' },
    ...{ TRUSTED_PROXIES: '1', ...more },
  });

/** Puts records into a store as [client, record], before a program passes them on. */
const fill = async (folder, records) => {
  const store = createLibsqlStore({ path: join(folder, 'rows.db') });
  await store.progress.release(await store.progress.take('service', 'fill'));
  const time = new Date().toISOString();
  const checked = ([sender, { body, ...record }]) => ({
    ...{ ...record, body, text: JSON.stringify(body), sender },
    ...{ calledAt: time, receivedAt: time },
  });
  for (let at = 0; at < records.length; at += 1_000)
    await store.write(records.slice(at, at + 1_000).map(checked));
  await store.close();
};
const send = async ({ url }, address, records) => {
  const response = await fetch(`${url}/a/v1/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: ORIGIN, 'x-forwarded-for': address },
    body: JSON.stringify({ sent_at: new Date().toISOString(), records }),
  });
  await response.text();
  return response.ok;
};
/** Milliseconds until it is so; Infinity if it is not within the time. */
const until = async (isSo, withinMs = 120_000) => {
  const began = performance.now();
  while (performance.now() - began < withinMs) {
    if (await isSo()) return Math.round(performance.now() - began);
    await sleep(20);
  }
  return Infinity;
};
/** Milliseconds of CPU that a process has had so far. Linux counts them in hundredths of a second. */
const cpuOf = ({ pid }) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};
const isOther = (client) => client.startsWith('other');
const others = (count) => Array.from({ length: count }, (_, n) => `other${n % 20}`);

const RUNS = {
  /** 10,000 rows of 500 clients to a service that answers at once. */
  speed: async () => {
    const [service, folder] = [await startService(), newFolder()];
    const all = Array.from({ length: 10_000 }, (_, n) => `c${n % 500}`);
    await fill(
      folder,
      all.map((client, n) => [client, event(client, `u${n % 5_000}`)]),
    );
    const program = await start(folder, service);
    await until(() => service.ok.length >= all.length);
    const ms = service.ok.at(-1).at - service.ok[0].at;
    const cpu = Math.round((cpuOf(program) / all.length) * 1_000);
    console.log(`speed: ${Math.round(all.length / (ms / 1_000))} rows/s, CPU ${cpu} ms for 1,000`);
    await program.kill();
    service.close();
  },
  /** 300 rows of a client that is answered 500, late or never, among 1,000 of 20 others. */
  client: async () => {
    for (const [what, rule] of Object.entries({
      500: { status: 500 },
      'after 5 s': { ms: 5_000 },
      never: { status: 0 },
    })) {
      const service = await startService();
      service.rule = (client) => (client === 'x' ? rule : { ms: 20 });
      const program = await start(newFolder(), service);
      const began = performance.now();
      for (let n = 0; n < 50; n++) {
        await send(
          program,
          '10.0.0.1',
          Array.from({ length: 6 }, (_, i) => event('x', `x${i}`)),
        );
        await Promise.all(
          others(20).map((one, i) => send(program, `10.1.${i}.1`, [event(one, `u${n % 5}`)])),
        );
      }
      const sentMs = Math.round(performance.now() - began);
      const ms = await until(() => service.count(isOther) >= 1_000, 20_000);
      console.log(
        `client answered ${what}: ${service.count(isOther)} of 1,000 others ${ms} ms after the last (sent in ${sentMs}), ${service.twice()} twice`,
      );
      await program.kill();
      service.close();
    }
  },
  /** An identify that fails, before a second one and events, with a kill between. */
  poison: async () => {
    const [service, folder] = [await startService(), newFolder()];
    let isBad = true;
    service.rule = (client, isIdentify) =>
      isBad && client === 'first' && isIdentify ? { status: 500 } : {};
    let program = await start(folder, service);
    await send(program, '10.0.0.1', [event('before', 'p')]);
    await until(() => service.ok.length);
    await send(program, '10.0.0.1', [identify('first', 'p'), event('e1', 'p')]);
    await sleep(1_000);
    await program.kill();
    program = await start(folder, service);
    await send(program, '10.0.0.1', [identify('second', 'p'), event('e2', 'p')]);
    const ms = await until(async () => {
      await send(program, '10.1.1.1', [event('other', 'q')]);
      return service.count(isOther) > 0;
    });
    await sleep(10_000);
    isBad = false;
    await until(() => service.count((client) => client === 'e2'));
    const order = service.ok.filter(({ client }) => !isOther(client)).map(({ client }) => client);
    console.log(`poison: another client ${ms} ms after the restart; order: ${order.join(' ')}`);
    await program.kill();
    service.close();
  },
  /** The service answers 503 for 30 s while records come. */
  away: async () => {
    const service = await startService();
    const program = await start(newFolder(), service);
    let isAway = false;
    service.rule = () => (isAway ? { status: 503 } : {});
    let sent = 0;
    const feed = async (seconds) => {
      for (let n = 0; n < seconds * 20; n++) {
        if (await send(program, `10.1.${n % 10}.1`, [event(`c${n % 10}`, `u${n % 10}`)])) sent++;
        await sleep(50);
      }
    };
    await feed(2);
    isAway = true;
    const before = service.got;
    await feed(30);
    const tries = service.got - before;
    isAway = false;
    const ms = await until(() => service.ok.length >= sent);
    console.log(
      `away for 30 s: all ${sent} ${ms} ms after it (may be 15,000), ${tries} tries, ${service.twice()} twice`,
    );
    await program.kill();
    service.close();
  },
  /** 20,000 rows of one client before 100 of others. */
  flood: async () => {
    const [service, folder] = [await startService(), newFolder()];
    const flood = Array.from({ length: 20_000 }, (_, n) => ['x', event('x', `x${n % 100}`)]);
    await fill(folder, [...flood, ...others(100).map((one) => [one, event(one, one)])]);
    const program = await start(folder, service);
    await until(() => service.ok.length);
    const ms = await until(() => service.count(isOther) >= 100);
    console.log(`flood of 20,000: others ${ms} ms after its first row`);
    await program.kill();
    service.close();
  },
  /** 200,000 rows of a client that is answered 500, before 500 of others. */
  parked: async () => {
    const [service, folder] = [await startService(), newFolder()];
    service.rule = (client) => (client === 'x' ? { status: 500 } : {});
    const flood = Array.from({ length: 200_000 }, (_, n) => ['x', event('x', `x${n % 500}`)]);
    await fill(folder, [...flood, ...others(500).map((one) => [one, event(one, one)])]);
    const program = await start(folder, service);
    const ms = await until(() => service.count(isOther) >= 500, 300_000);
    await sleep(1_000);
    const before = cpuOf(program);
    await sleep(10_000);
    const percent = Math.round((cpuOf(program) - before) / 100);
    await send(program, '10.9.9.9', [event('new', 'new')]);
    const newMs = await until(() => service.count((client) => client === 'new'));
    console.log(
      `parked 200,000: others ${ms} ms after the start; then ${percent} % CPU, and a new one after ${newMs} ms`,
    );
    await program.kill();
    service.close();
  },
  /** Two programs over one Postgres; the one that passes on is killed, or stopped. */
  programs: async () => {
    for (const signal of ['SIGKILL', 'SIGSTOP']) {
      const [postgres, service] = [await startPostgres(), await startService()];
      service.rule = () => ({ ms: 20 });
      const more = { DATABASE_URL: postgres.url };
      const first = await start(newFolder(), service, more);
      await sleep(1_500);
      const second = await start(newFolder(), service, more);
      let isOver = false;
      const feeding = (async () => {
        while (!isOver) await send(second, '10.1.1.1', [event('c', 'u')]).then(() => sleep(50));
      })();
      await until(() => service.ok.length > 20);
      process.kill(first.pid, signal);
      const killedAt = performance.now();
      await sleep(30_000);
      isOver = true;
      await feeding;
      const times = [killedAt, ...service.ok.map(({ at }) => at).filter((at) => at > killedAt)];
      const gap = Math.max(...times.slice(1).map((at, n) => at - times[n]));
      console.log(
        `programs, ${signal}: the longest gap ${Math.round(gap)} ms, ${service.twice()} twice`,
      );
      if (first.isAlive()) process.kill(first.pid, 'SIGCONT');
      await Promise.all([first.kill(), second.kill()]);
      service.close();
      await postgres.stop();
    }
  },
};

console.log(`load of the machine before: ${loadavg()[0].toFixed(2)}`);
for (const name of given.only?.split(',') ?? Object.keys(RUNS)) await RUNS[name]();
console.log(`load of the machine after: ${loadavg()[0].toFixed(2)}`);
rmSync(folders, { recursive: true, force: true });
