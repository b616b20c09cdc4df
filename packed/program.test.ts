/** The program, installed beside what a user installs with it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { QueuedRecord } from '../src/relay.js';
import { checked } from '../test/server/helpers/records.js';
import { createRedisQueue } from '../src/relay-redis.js';
import { startRedis, type RedisServer } from '../test/support/start-redis.mjs';
import { MANIFEST } from './support/entries.js';
import { INSTALLED, ROOT, unpackInto } from './support/install.js';
import { startProgram, type Program } from './support/program.js';
import { BATCH, recordOf, sendUntilTaken, takenOf, USERS } from './support/senders.js';
import { openService, ORIGIN, TOKEN, type Service } from './support/service.js';
import { until } from './support/until.js';

const RECORDS = Number(process.env.RECORDS ?? 600);
const SENDERS = 4;
/** Requests to the service that one program has under way at the most. */
const CONCURRENCY = 32;

const folder = mkdtempSync(join(tmpdir(), 'relay-program-'));
let program = '';
beforeAll(() => {
  const installed = unpackInto(folder, ['redis', '@hono', 'undici', 'prom-client']);
  program = join(installed, MANIFEST.bin['analytics-outbox']!);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settingsOf = (serviceUrl: string, queueUrl: string) => ({
  ...{ SERVICE_URL: serviceUrl, SERVICE_TOKEN: TOKEN, SITE_ORIGIN: ORIGIN, PORT: '0' },
  ...{ PROJECTS: 'shop', CHANNELS: 'web, growth', QUEUE_URL: queueUrl, HOST: '127.0.0.1' },
});

/** Runs the program to its end, with nothing in its environment but this. */
const ask = (settings: NodeJS.ProcessEnv, ...args: string[]) =>
  spawnSync(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, ...settings },
    encoding: 'utf8',
  });

const GOOD = settingsOf('http://127.0.0.1:9', 'redis://127.0.0.1:9');
const { SERVICE_URL: _, ...TOKEN_ALONE } = GOOD;
const away = '`QUEUE_URL`: Redis does not answer: ';

// Each setting and its words: test/program/settings.test.ts.
it.each<[what: string, settings: Record<string, string>, words: string, ...args: string[]]>([
  [
    'no address of the service',
    { ...GOOD, SERVICE_URL: '' },
    '`SERVICE_URL` must be an absolute http(s) URL without user, query or spaces, not ""',
  ],
  ['a token for a service that is not named', TOKEN_ALONE, 'only for a program with SERVICE_URL'],
  ['no database', { DATA_FOLDER: `${folder}/data` }, 'npm install hono'],
  ['no queue', GOOD, away],
  ['no queue, in a log of JSON', { ...GOOD, LOG_FORMAT: 'json' }, `"does not start: ${away}`],
  ['no package', { ...GOOD, QUEUE_URL: `file:${folder}/queue` }, 'npm install libsql'],
  ['no queue with dead letters', GOOD, away, 'dead', 'list'],
  ['no such command', GOOD, 'unknown argument "serve"\nusage: analytics-outbox', 'serve'],
])('ends with words that say why: %s', (_, settings, words, ...args) => {
  const { status, stderr } = ask(settings, ...args);
  expect(status).toBe(1);
  expect(stderr).toContain(words);
});

it('says its version and its settings', () => {
  expect(ask({}, '--version').stdout.trim()).toBe(MANIFEST.version);
  expect(ask({}, '--help').stdout).toMatch(/^  QUEUE_URL /m);
});

it('`tail` ends when nobody reads its rows any more, as before `head`', async () => {
  const row = { type: 'event', body: {}, received_at: new Date().toISOString() };
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const say = () => response.write(`event: row\ndata: ${JSON.stringify(row)}\n\n`);
    const timer = setInterval(say, 10);
    response.on('close', () => clearInterval(timer));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const file = join(INSTALLED, MANIFEST.bin['analytics-outbox']!);
  const tail = spawn(process.execPath, [file, 'tail', url], { env: {}, stdio: 'pipe' });
  await once(tail.stdout, 'data');
  tail.stdout.destroy();
  await once(tail, 'exit');
  expect(tail.exitCode).toBe(0);
  server.closeAllConnections();
  server.close();
});

describe('over a Redis', { tags: ['Redis'] }, () => {
  let redis: RedisServer;
  let service: Service;
  let client: Awaited<ReturnType<typeof connect>>;
  let queue: ReturnType<typeof createRedisQueue>;
  const running: Program[] = [];
  const connect = () =>
    createClient({ url: redis.url })
      .on('error', () => undefined)
      .connect();

  beforeAll(async () => {
    redis = await startRedis();
    service = await openService({ ignoreKeys: true });
    client = await connect();
    queue = createRedisQueue({ client });
  });
  afterAll(async () => {
    client.destroy();
    await Promise.all(running.map((one) => one.kill()));
    await service.close();
    await redis.stop();
  });

  const startRelay = async (more: Record<string, string> = {}) => {
    const env = {
      ...settingsOf(service.url, redis.url),
      CONCURRENCY: String(CONCURRENCY),
      TIMEOUT_SECONDS: '60',
      ...more,
    };
    const one = startProgram({ command: [process.execPath, program], folder, env });
    running.push(one);
    const [, url] = await one.says(/listens at (http:[\w.:/]+)/);
    return { ...one, url: `${url}/a` };
  };
  const isEmpty = () => until(async () => (await queue.size()).waiting === 0, 'an empty queue');

  /** What a killed process has taken is free for others after 90 seconds. Here at once. Answers with its keys. */
  const freeTaken = async (): Promise<string[]> => {
    const keys = await client.hKeys('{analytics-outbox}:taken');
    for (const value of keys)
      await client.zAdd('{analytics-outbox}:order', { score: 1, value }, { condition: 'XX' });
    return keys;
  };

  const eventOf = (id: string) => ({
    ...{ id, type: 'event' as const },
    body: { project: 'shop', channel: 'growth', event: 'Paid', user_id: 'u' },
  });

  it('loses nothing when one of two is killed, and then Redis', async () => {
    const relays = [await startRelay(), await startRelay()];
    const batches = Array.from({ length: RECORDS / BATCH }, (_, b) =>
      Array.from({ length: BATCH }, (_, i) => recordOf(b * BATCH + i)),
    );
    let accepted = 0;
    const send = async (sender: number) => {
      for (let batch = batches.shift(); batch; batch = batches.shift()) {
        // So that there is still something to send when the relay and Redis are killed.
        await until(
          async () => accepted - (await service.count()) < RECORDS / 5,
          'a smaller backlog',
        );
        await sendUntilTaken(relays, batch, sender, ({ size }) => (accepted += size));
      }
    };
    const sending = Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
    await until(async () => (await service.count()) >= RECORDS * 0.3, 'a third to be stored');
    await relays[0]!.kill();
    const taken = new Set(await freeTaken());
    await until(async () => (await service.count()) >= RECORDS * 0.5, 'a half to be stored');
    await redis.kill();
    await redis.restart();
    await sending;
    let before = -1;
    await until(async () => {
      const [count, { waiting }] = [await service.count(), await queue.size()];
      // Where nothing goes on, a take whose answer was lost holds what is left.
      if (waiting && count === before) for (const key of await freeTaken()) taken.add(key);
      before = count;
      if (waiting) await sleep(500);
      return waiting === 0;
    }, 'an empty queue');

    const events = (await service.events()).map(({ tags }) => tags!['n'] as number);
    const identifies = (await service.identifies()).map(
      ({ properties }) => Object.values(properties!)[0] as number,
    );
    const numbers = [...events, ...identifies];
    expect(new Set(numbers).size).toBe(RECORDS);
    // This service knows no keys, so what the killed one had under way may have come twice. Nothing else has.
    const twice = numbers.filter((n, index) => numbers.indexOf(n) !== index);
    expect(twice.length).toBeLessThanOrEqual(CONCURRENCY);
    expect(twice.filter((n) => ![...taken].some((key) => key.includes(`"record-${n}"`)))).toEqual(
      [],
    );
    const first = identifies.filter((n, index) => identifies.indexOf(n) === index);
    for (let user = 0; user < USERS; user++) {
      const own = first.filter((n) => n % USERS === user);
      expect(own).toEqual([...own].sort((a, b) => a - b));
    }
    expect((await queue.size()).dead).toBe(0);
    await relays[1]!.stop();
  });

  it('ends what it has begun when it is told to stop', async () => {
    await service.clear();
    const relay = await startRelay();
    for (let batch = 0; batch < 4; batch++) {
      const records = Array.from({ length: BATCH }, (_, n) => eventOf(`stopped-${batch}-${n}`));
      expect((await takenOf(relay.url, records)).size).toBe(BATCH);
    }
    const connection = await openBusyConnection(relay.url);
    relay.signal('SIGTERM');
    await until(() => isRefused(relay.url), 'it to take no more connections');
    connection.goOn();
    expect(await relay.ended).toBe(0);
    expect(relay.output()).toMatch(
      /stopped\. in: 200 accepted; (requests refused: .*; )?out: (.*\d+ delivered.*|nothing); \d+ waiting$/m,
    );
    // Each record is delivered, or it waits: none is between the two.
    expect((await service.count()) + (await queue.size()).waiting).toBe(200);
    const next = await startRelay(); // what the first has given back is nobody's: no time has to pass
    await isEmpty();
    const stored = (await service.events()).map((row) => row.idempotency_key);
    expect(stored).toHaveLength(200);
    await next.stop();
  });

  it('lists and resends dead letters', async () => {
    await service.clear();
    const env = { PATH: process.env.PATH, SERVICE_URL: service.url, QUEUE_URL: redis.url };
    const ids = ['again', ...Array.from({ length: 250 }, (_, n) => `many-${n}`)];
    await queue.put(ids.map((id): QueuedRecord => ({ ...checked(eventOf(id)), at: Date.now() })));
    for (const taken of await queue.take(ids.length, 60_000))
      await queue.bury(taken, 'rejected 400');
    // Whoever reads the list may stop before its end.
    const list = [process.execPath, program, 'dead', 'list'];
    const read = spawnSync('sh', ['-c', '"$@" | head -1', 'sh', ...list], {
      ...{ env, encoding: 'utf8' },
    });
    expect(read.stderr).toBe('');
    const { id } = JSON.parse(read.stdout) as { id: string };
    expect(ask(env, 'dead', 'resend', id).stdout).toBe('1 sent again\n');
    expect(ask(env, 'dead', 'purge', '--all').stdout).toBe('250 deleted\n');
    const relay = await startRelay();
    await isEmpty();
    expect(await service.count()).toBe(1);
    await relay.stop();
  });

  it('has the health check and the user of its container', async () => {
    // As plain commands: this machine may have no Docker.
    const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('\n');
    expect(lines.filter((line) => line.startsWith('USER')).at(-1)).toBe('USER node');
    const [, test = ''] = /CMD (.*)/.exec(lines.find((line) => line.startsWith('HEALTHCHECK'))!)!;
    const isWell = async (url: string) => {
      const env = { PATH: process.env.PATH, PORT: new URL(url).port };
      const [code] = (await once(spawn('sh', ['-c', test], { env }), 'exit')) as [number];
      return code === 0;
    };
    const relay = await startRelay({ ADMIN_PORT: '0', LOG_FORMAT: 'json' });
    expect(await isWell(relay.url)).toBe(true);
    const [, adminUrl] = await relay.says(/metrics and health at (http:[^\s"]+)/);
    const metrics = async () => (await fetch(`${adminUrl}/metrics`)).text();
    await until(
      async () => /analytics_outbox_queue_waiting \d/.test(await metrics()),
      'its metrics',
    );
    await relay.stop();
    expect(await isWell(relay.url)).toBe(false);
  });

  it('never says the token', () => {
    expect(running.filter((one) => one.output().includes(TOKEN))).toEqual([]);
  });
});

/** A connection as a proxy has it: a request is under way on it, and then one follows the other. */
const openBusyConnection = async (url: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const start = (method: string, path: string) =>
    request(`${url}${path}`, { method, agent, headers: { origin: ORIGIN } });
  const askForEver = async (asked: ClientRequest): Promise<void> => {
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    await askForEver(start('GET', '/live').end());
  };
  const first = start('POST', '/v1/batch');
  first.setHeader('content-type', 'application/json');
  first.write('{');
  askForEver(first).catch(() => undefined); // the program has ended
  const [socket] = (await once(first, 'socket')) as [Socket];
  if (socket.connecting) await once(socket, 'connect');
  return { goOn: () => first.end('}') };
};

const isRefused = (url: string) =>
  fetch(`${url}/live`).then(
    () => false,
    () => true,
  );
