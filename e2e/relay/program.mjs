/**
 * The relay as a program, from the packed tarball: it refuses to start in words; over a Redis it loses nothing
 * when it is killed in the middle of its work or told to stop; its commands handle dead letters. Run after
 * the build.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from 'redis';
import { createRedisQueue } from '../../dist/relay-redis.js';
import { hasRedis, startRedis } from '../../lab/relay/support/start-redis.mjs';
import { writeResult } from '../../scripts/test-result.mjs';
import { startProgram } from '../recipes/support/program.mjs';
import { createServiceReader } from '../recipes/support/service-reader.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const ORIGIN = 'https://shop.example';
const TOKEN = 'tok_program';
const GIVE_UP_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'relay-program-'));
const ending = [() => rmSync(folder, { recursive: true, force: true })];
/** All that the program has said. */
const running = [];
let failed = 0;
let passed = 0;
try {
  const program = install();
  await check('refuses to start in words', () => refuses(program));
  if (hasRedis) {
    const world = await enter(program);
    await check('loses nothing when it is killed', () => isKilled(world));
    await check('ends what it has begun when it is told to stop', () => isStopped(world));
    await check('lists, resends and purges dead letters', () => handlesDeadLetters(world));
    await check('has the health check and the user of its container', () => isHealthy(world));
    await check('never says the token', () => {
      for (const one of running) assert.ok(!one.output().includes(TOKEN));
    });
  }
} finally {
  for (const end of ending.reverse()) await end();
}
writeResult('program', { passed, failed, skipped: hasRedis ? 0 : 5 });
process.exitCode = failed ? 1 : 0;

async function check(name, run) {
  try {
    await run();
    passed++;
    console.log(`✓ ${name}`);
  } catch (error) {
    failed++;
    console.log(`✗ ${name}\n${error.stack}`);
    for (const one of running) console.log(one.output());
  }
}

/** Unpacks the tarball beside what a user installs with it; answers with the file of the command. */
function install() {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
  const [tarball] = readdirSync(folder);
  const target = join(folder, 'node_modules/analytics-outbox');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', target, '--strip-components=1']);
  for (const name of ['redis', '@hono', 'undici', 'prom-client']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const { bin } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
  return join(target, bin['analytics-outbox-relay']);
}

function refuses(program) {
  const env = { PATH: process.env.PATH };
  const ask = (settings, ...args) =>
    spawnSync(process.execPath, [program, ...args], {
      env: { ...env, ...settings },
      encoding: 'utf8',
    });
  const missing = ask({});
  assert.equal(missing.status, 1);
  const names = [
    'SERVICE_URL',
    'SERVICE_TOKEN',
    'SITE_ORIGIN',
    'PROJECTS',
    'CHANNELS',
    'STORE_URL',
  ];
  for (const name of names)
    assert.match(missing.stderr, new RegExp(`\`${name}\` is missing: give `));
  const good = settingsOf('http://127.0.0.1:9', 'redis://127.0.0.1:9');
  const away = ask(good);
  assert.equal(away.status, 1);
  assert.match(away.stderr, /`STORE_URL`: Redis does not answer/);
  const wrong = ask({ ...good, PORT: 'x', SITE_ORIGIN: `${ORIGIN}/`, SERVICE_TOKEN: 'two words' });
  for (const name of ['PORT', 'SITE_ORIGIN', 'SERVICE_TOKEN']) {
    assert.match(wrong.stderr, new RegExp(`\`${name}\` must be `));
  }
  assert.ok(!wrong.stderr.includes('two words'));
  const { level, message } = JSON.parse(ask({ ...good, LOG_FORMAT: 'json' }).stderr);
  assert.equal(level, 'error');
  assert.match(message, /^does not start: `STORE_URL`: Redis does not answer: /);
  const file = ask({ ...good, STORE_URL: `file:${folder}/store` });
  assert.match(file.stderr, /the package libsql is missing: npm install libsql/);
  assert.match(ask(good, 'dead', 'bury').stderr, /does not answer/);
  assert.match(ask(good, 'serve').stderr, /usage: analytics-outbox-relay/);
  assert.equal(ask({}, '--version').stdout.trim(), VERSION);
  const help = ask({}, '--help').stdout;
  for (const name of [...names, 'HOST', 'ADMIN_PORT', 'RATE_LIMIT', 'CEILING', 'LOG_FORMAT'])
    assert.match(help, new RegExp(`^  ${name} `, 'm'));
}

function settingsOf(serviceUrl, storeUrl) {
  return {
    ...{ SERVICE_URL: serviceUrl, SERVICE_TOKEN: TOKEN, SITE_ORIGIN: ORIGIN, PORT: '0' },
    ...{ PROJECTS: 'shop', CHANNELS: 'web, growth', STORE_URL: storeUrl },
  };
}

async function enter(program) {
  const redis = await startRedis();
  ending.push(redis.stop);
  const start = (file, env) => {
    const one = startProgram({ command: [process.execPath, file], folder, env });
    ending.push(one.stop);
    return one;
  };
  const service = start(join(ROOT, 'demo/dist/service.js'), {
    ...{ PORT: '0', HOST: '', FAULTS: '', TOKEN, DATABASE: join(folder, 'service.db') },
  });
  const [serviceUrl] = await service.says(/http:\S+/);
  const client = await createClient({ url: redis.url }).connect();
  ending.push(() => client.destroy());
  const settings = settingsOf(serviceUrl, redis.url);
  const sent = [];
  return {
    client,
    queue: createRedisQueue({ client }),
    /** Ids of all records that a relay has accepted. */
    sent,
    storedIds: async () => (await createServiceReader(serviceUrl).rows()).map(({ id }) => id),
    startRelay: async (more = {}) => {
      const one = start(program, { ...settings, ...more });
      running.push(one);
      const [url] = await one.says(/http:\S+/);
      return { ...one, url };
    },
    command: (...args) =>
      execFileSync(process.execPath, [program, 'dead', ...args], {
        env: { PATH: process.env.PATH, STORE_URL: redis.url },
        encoding: 'utf8',
      }).trim(),
    /** What a command complains of when nobody reads what it prints. */
    unread: (...args) =>
      spawnSync('sh', ['-c', '"$@" | true', 'sh', process.execPath, program, 'dead', ...args], {
        env: { PATH: process.env.PATH, STORE_URL: redis.url },
        encoding: 'utf8',
      }).stderr,
    accept: async ({ url }, count) => {
      for (let left = count; left > 0; left -= 50) {
        const records = Array.from({ length: 50 }, () => makeRecord(sent));
        const response = await fetch(`${url}/a/v1/batch`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin: ORIGIN },
          body: JSON.stringify({ sent_at: new Date().toISOString(), records }),
        });
        const { results } = await response.json();
        assert.ok(results?.every(({ outcome }) => outcome === 'accepted'));
      }
    },
  };
}

function makeRecord(sent) {
  const id = `record-${sent.length}`;
  sent.push(id);
  const body = {
    project: 'shop',
    channel: 'growth',
    event: 'Paid',
    user_id: `u${sent.length % 40}`,
  };
  return { id, type: 'event', body };
}

/** A connection as a proxy has it: a request is under way on it, and then one follows the other. */
async function openBusyConnection(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (method, path) =>
    request(`${url}/a${path}`, { method, agent, headers: { origin: ORIGIN } });
  const askForEver = async (asked) => {
    const [answer] = await once(asked, 'response');
    answer.resume();
    await once(answer, 'end');
    await askForEver(ask('GET', '/live').end());
  };
  const first = ask('POST', '/v1/batch');
  first.setHeader('content-type', 'application/json');
  first.write('{');
  askForEver(first).catch(() => {}); // the program has ended
  const [socket] = await once(first, 'socket');
  if (socket.connecting) await once(socket, 'connect');
  return { goOn: () => first.end('}') };
}

function isRefused(url) {
  return fetch(`${url}/a/live`).then(
    () => false,
    () => true,
  );
}

function within(ms, promise, what) {
  const late = sleep(ms, undefined, { ref: false }).then(() => {
    throw new Error(`waited too long for ${what}`);
  });
  return Promise.race([promise, late]);
}

async function until(holds, what) {
  const end = performance.now() + GIVE_UP_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited too long for ${what}`);
    await sleep(20);
  }
}

/** Waits for the queue to be empty: then the service has each record once. */
async function arrivesOnce({ queue, sent, storedIds }) {
  await until(async () => (await queue.size()).waiting === 0, 'the queue to be empty');
  assert.deepEqual(await storedIds(), [...sent].sort());
}

async function isKilled(world) {
  const { client, storedIds, startRelay, accept, sent } = world;
  const relay = await startRelay();
  await accept(relay, 600);
  await until(async () => (await storedIds()).length >= 20, 'some to be stored');
  await relay.kill();
  assert.ok((await storedIds()).length < sent.length, 'it was done before it was killed');
  // What it held is free for others after 90 seconds. Here at once.
  const held = await client.hKeys('{analytics-outbox}:taken');
  for (const key of held) await client.zAdd('{analytics-outbox}:order', { score: 1, value: key });
  const next = await startRelay();
  await arrivesOnce(world);
  await next.stop();
}

async function isStopped(world) {
  const { queue, storedIds, startRelay, accept, sent } = world;
  const relay = await startRelay();
  const before = sent.length;
  await accept(relay, 200);
  const connection = await openBusyConnection(relay.url);
  relay.signal('SIGTERM');
  await until(() => isRefused(relay.url), 'it to take no more connections');
  connection.goOn();
  assert.equal(await within(GIVE_UP_MS, relay.ended, 'it to end'), 0);
  assert.match(
    relay.output(),
    /stopped\. in: 200 accepted; out: (.*\d+ delivered.*|nothing); \d+ waiting, 0 dead/,
  );
  // Each record is delivered, or it waits: none is between the two.
  assert.equal((await storedIds()).length + (await queue.size()).waiting, before + 200);
  const next = await startRelay(); // what the first has given back is nobody's: no time has to pass
  await arrivesOnce(world);
  await next.stop();
}

/** Runs what the Dockerfile says as plain commands: this machine may have no Docker. */
async function isHealthy({ startRelay }) {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('\n');
  assert.deepEqual(lines.filter((line) => line.startsWith('USER')).at(-1), 'USER node');
  const [, test] = /CMD (.*)/.exec(lines.find((line) => line.startsWith('HEALTHCHECK')));
  const isWell = (url) =>
    new Promise((resolve) => {
      const env = { PATH: process.env.PATH, PORT: new URL(url).port };
      spawn('sh', ['-c', test], { env }).on('exit', (code) => resolve(code === 0));
    });
  const relay = await startRelay({ ADMIN_PORT: '0', LOG_FORMAT: 'json' });
  assert.equal(await isWell(relay.url), true);
  const [admin] = await relay.says(/metrics and health at (http:[^\s"]+)/);
  const [adminUrl] = /http:\S+/.exec(admin);
  const metrics = async () => (await fetch(`${adminUrl}/metrics`)).text();
  await until(async () => /analytics_relay_queue_waiting \d/.test(await metrics()), 'its metrics');
  await relay.stop();
  assert.equal(await isWell(relay.url), false);
}

async function handlesDeadLetters(world) {
  const { queue, startRelay, command, unread, sent } = world;
  assert.equal(command('list'), '');
  const [again, gone, alsoGone] = [makeRecord(sent), makeRecord([]), makeRecord([])].map(
    (record, n) => ({ ...record, id: n ? `gone-${n}` : record.id, at: Date.now() }),
  );
  await queue.put([again, gone, alsoGone]);
  for (const taken of await queue.take(3, 1_000)) await queue.bury(taken, 'rejected 400');
  const listed = command('list')
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    listed.map(({ record }) => record.id).sort(),
    ['gone-1', 'gone-2', again.id].sort(),
  );
  assert.ok(listed.every(({ reason }) => reason === 'rejected 400'));
  const idOf = (name) => listed.find(({ record }) => record.id === name).id;
  assert.equal(command('purge', idOf('gone-1')), '1 deleted');
  assert.equal(command('resend', idOf(again.id)), '1 sent again');
  const many = Array.from({ length: 250 }, (_, n) => ({
    ...makeRecord([]),
    ...{ id: `many-${n}`, at: Date.now() },
  }));
  await queue.put(many);
  for (const taken of await queue.take(many.length + 1, 60_000)) {
    if (taken.record.id === again.id) await queue.giveBack([{ taken, delayMs: 0, isTried: true }]);
    else await queue.bury(taken, 'rejected 400');
  }
  assert.equal(unread('list'), '');
  assert.equal(command('purge', '--all'), '251 deleted');
  assert.equal(command('list'), '');
  const relay = await startRelay();
  await arrivesOnce(world);
  await relay.stop();
}
