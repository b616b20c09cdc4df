/** The program, installed beside what a user installs with it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../src/service-postgres.js';
import type { Store } from '../src/service.js';
import { startPostgres, type PostgresServer } from '../test/support/start-postgres.mjs';
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
  const installed = unpackInto(folder, ['@hono', 'undici', 'prom-client']);
  program = join(installed, MANIFEST.bin['analytics-outbox']!);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settingsOf = (serviceUrl: string) => ({
  ...{ SERVICE_URL: serviceUrl, SERVICE_TOKEN: TOKEN, SITE_ORIGIN: ORIGIN, PORT: '0' },
  ...{ PROJECTS: 'shop', CHANNELS: 'web, growth', HOST: '127.0.0.1' },
});

/** Runs the program to its end, with nothing in its environment but this. */
const ask = (settings: NodeJS.ProcessEnv, ...args: string[]) =>
  spawnSync(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, ...settings },
    encoding: 'utf8',
  });

const GOOD = settingsOf('http://127.0.0.1:9');
const { SERVICE_URL: _, ...TOKEN_ALONE } = GOOD;
const gone = '`QUEUE_URL`: there is no queue any more';

// Each setting and its words: test/program/settings.test.ts.
it.each<[what: string, settings: Record<string, string>, words: string, ...args: string[]]>([
  [
    'no address of the service',
    { ...GOOD, SERVICE_URL: '' },
    '`SERVICE_URL` must be an absolute http(s) URL without user, query, spaces or "*", not ""',
  ],
  ['a token for a service that is not named', TOKEN_ALONE, 'only for a program with SERVICE_URL'],
  ['no database', { DATA_FOLDER: `${folder}/data` }, 'npm install hono'],
  ['a queue', { ...GOOD, QUEUE_URL: 'redis://127.0.0.1:9' }, gone],
  [
    'a queue, in a log of JSON',
    { ...GOOD, QUEUE_URL: 'redis://127.0.0.1:9', LOG_FORMAT: 'json' },
    `"does not start: settings that are gone: ${gone}`,
  ],
  [
    'a folder without a database, which is named first',
    { DATA_FOLDER: `${folder}/none` },
    `analytics-outbox: file:${folder}/none/rows.db\nanalytics-outbox: \`DATABASE_URL\` (file:${folder}/none/rows.db): there is no such file`,
    ...['export', 'list'],
  ],
  ['no such command', GOOD, 'unknown argument "serve"\nusage: analytics-outbox', 'serve'],
])('ends with words that say why: %s', (_, settings, words, ...args) => {
  const { status, stderr } = ask(settings, ...args);
  expect(status).toBe(1);
  expect(stderr).toContain(words);
});

it('says its version and its settings', () => {
  expect(ask({}, '--version').stdout.trim()).toBe(MANIFEST.version);
  expect(ask({}, '--help').stdout).toMatch(/^  SERVICE_URL /m);
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

describe('over a Postgres', { tags: ['Postgres'] }, () => {
  let postgres: PostgresServer;
  let service: Service;
  let store: Store;
  const running: Program[] = [];
  const whole = join(INSTALLED, MANIFEST.bin['analytics-outbox']!);

  beforeAll(async () => {
    postgres = await startPostgres();
    service = await openService({ ignoreKeys: true });
    store = await createPostgresStore({ url: postgres.url });
  });
  afterAll(async () => {
    await Promise.all(running.map((one) => one.kill()));
    await store.close();
    await service.close();
    await postgres.stop();
  });

  const startServer = async (more: Record<string, string> = {}) => {
    const env = {
      ...{ ...settingsOf(service.url), DATABASE_URL: postgres.url, READ_TOKEN: 'token-of-readers' },
      ...{ CONCURRENCY: String(CONCURRENCY), TIMEOUT_SECONDS: '60', WRITE_TOKENS: 'shop=tok' },
      ...{ RATE_LIMIT: 'off', DATA_FOLDER: join(folder, 'data') },
      ...more,
    };
    const one = startProgram({ command: [process.execPath, whole], folder, env });
    running.push(one);
    const [, url] = await one.says(/listens at (http:[\w.:/]+)/);
    return { ...one, url: `${url}/a` };
  };
  const left = async (): Promise<number> => {
    const [target] = await store.progress.targets();
    return target!.parked + (await store.rows({}, { after: target!.place, limit: 10_000 })).length;
  };
  const isEmpty = () => until(async () => (await left()) === 0, 'all to be passed on');

  const eventOf = (id: string) => ({
    ...{ id, type: 'event' as const },
    body: { project: 'shop', channel: 'growth', event: 'Paid', user_id: 'u' },
  });

  it('loses nothing when the one of two that passes on is killed, and then Postgres', async () => {
    const servers = [await startServer()];
    await until(async () => (await store.progress.targets())[0]?.isHeld === true, 'its lock');
    servers.push(await startServer());
    const batches = Array.from({ length: RECORDS / BATCH }, (_, b) =>
      Array.from({ length: BATCH }, (_, i) => recordOf(b * BATCH + i)),
    );
    const send = async (sender: number) => {
      for (let batch = batches.shift(); batch; batch = batches.shift())
        await sendUntilTaken(servers, batch, sender, () => undefined);
    };
    const sending = Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
    await until(async () => (await service.count()) >= RECORDS * 0.1, 'some to be passed on');
    await servers[0]!.kill();
    const killedAt = Date.now();
    const before = await service.count();
    await sending;
    await until(async () => (await service.count()) > before, 'the other one to go on');
    expect(Date.now() - killedAt).toBeLessThan(15_000);
    await postgres.kill();
    await postgres.restart();
    await isEmpty();

    const events = (await service.events()).map(({ tags }) => tags!['n'] as number);
    const identifies = (await service.identifies()).map(
      ({ properties }) => Object.values(properties!)[0] as number,
    );
    const numbers = [...events, ...identifies];
    expect(new Set(numbers).size).toBe(RECORDS);
    // This service knows no keys, so what the killed one had under way may have come twice. Nothing else has.
    expect(numbers.length - RECORDS).toBeLessThanOrEqual(CONCURRENCY);
    const first = identifies.filter((n, index) => identifies.indexOf(n) === index);
    for (let user = 0; user < USERS; user++) {
      const own = first.filter((n) => n % USERS === user);
      expect(own).toEqual([...own].sort((a, b) => a - b));
    }
    expect(await store.progress.targets()).toMatchObject([{ dead: 0 }]);
    await servers[1]!.stop();
  });

  it('ends what it has begun when it is told to stop', async () => {
    await service.clear();
    const server = await startServer();
    for (let batch = 0; batch < 4; batch++) {
      const records = Array.from({ length: BATCH }, (_, n) => eventOf(`stopped-${batch}-${n}`));
      expect((await takenOf(server.url, records)).size).toBe(BATCH);
    }
    const connection = await openBusyConnection(server.url);
    server.signal('SIGTERM');
    await until(() => isRefused(server.url), 'it to take no more connections');
    connection.goOn();
    expect(await server.ended).toBe(0);
    expect(server.output()).toMatch(
      /stopped\. in: 200 delivered; (requests refused: .*; )?out: (.*\d+ delivered.*|nothing)$/m,
    );
    const all = async () => (await service.count()) + (await left());
    await until(async () => (await all()) === 200, 'each record to be passed on, or still to be');
    const next = await startServer(); // the first has given its lock back: no time has to pass
    await isEmpty();
    const stored = (await service.events()).map((row) => row.idempotency_key);
    expect(stored).toHaveLength(200);
    await next.stop();
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
    const relay = await startServer({ ADMIN_PORT: '0', LOG_FORMAT: 'json' });
    expect(await isWell(relay.url)).toBe(true);
    const [, adminUrl] = await relay.says(/metrics and health at (http:[^\s"]+)/);
    const metrics = async () => (await fetch(`${adminUrl}/metrics`)).text();
    await until(async () => /nodejs_eventloop_lag_seconds \d/.test(await metrics()), 'its metrics');
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
