import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serveRelay } from '../../src/program/serve-relay.js';
import { readSettings, type Settings } from '../../src/program/settings.js';
import { createLibsqlQueue } from '../../src/relay-libsql.js';
import { runService } from '../demo/server/helpers/run-service.js';
import { TOKEN } from '../demo/server/helpers/service-client.js';
import { tempFolder } from '../support/temp-folder.js';
import { runHeldService } from '../relay/helpers/held-service.js';
import { event } from '../relay/helpers/records.js';

const ORIGIN = 'https://shop.example';

const settingsOf = (serviceUrl: string, more: Partial<Settings> = {}): Settings => ({
  ...readSettings({
    ...{ SERVICE_URL: serviceUrl, SERVICE_TOKEN: TOKEN, SITE_ORIGIN: ORIGIN },
    ...{ PROJECTS: 'p', CHANNELS: 'c', STORE_URL: `file:${tempFolder()}`, PORT: '0' },
  }),
  ...more,
});

/** Starts the program; its addresses are those that it says. */
const start = async (settings: Settings, environment?: NodeJS.ProcessEnv) => {
  const lines: string[] = [];
  const errors: string[] = [];
  const log = {
    info: (line: string) => lines.push(line),
    error: (line: string) => errors.push(line),
  };
  const served = serveRelay(settings, log, environment);
  const [url, adminUrl] = await vi.waitUntil(() => {
    const urls = lines.map((line) => /http:\S+/.exec(line)?.[0]);
    return urls.length > (settings.adminPort === undefined ? 0 : 1) && urls;
  }, 20_000);
  const send = (records: readonly object[]) =>
    fetch(`${url}/a/v1/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: ORIGIN },
      body: JSON.stringify({ sent_at: new Date().toISOString(), records }),
    });
  const stop = async () => {
    process.emit('SIGTERM');
    await served;
  };
  return { lines, errors, url: url!, adminUrl: adminUrl!, send, stop };
};

it('tells numbers on a port of their own, and strangers only that it is well', async () => {
  const service = await runService();
  const program = await start(settingsOf(service.url, { host: '127.0.0.1', adminPort: 0 }));
  expect(program.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  const text = async (path: string) => (await fetch(program.adminUrl + path)).text();
  const health = async () => JSON.parse(await text('/health')) as { service: { status: string } };
  for (const path of ['/metrics', '/health'])
    expect((await fetch(program.url + path)).status).toBe(404);
  const sent = { method: 'POST', headers: { origin: ORIGIN, 'content-type': 'text/plain' } };
  expect((await fetch(`${program.adminUrl}/a/v1/batch`, sent)).status).toBe(404);
  await program.send([event('a')]);
  await vi.waitUntil(async () => (await health()).service.status === 'ok', 20_000);
  for (const url of [program.url, program.adminUrl])
    for (const path of ['/live', '/ready'])
      expect(await (await fetch(url + path)).text()).toBe('{"status":"ok"}');
  const metrics = await text('/metrics');
  expect(metrics).toContain('analytics_relay_records_total{side="out",outcome="delivered"} 1');
  expect(metrics).toContain('analytics_relay_queue_waiting ');
  expect(metrics).toContain('nodejs_eventloop_lag_seconds ');
  await program.stop();
  expect(program.errors).toEqual([]);
});

/** Speaks HTTP by hand. Settles with what came when the other side has ended, or when it holds so many answers. */
const speak = (url: string, text: string, answers = Infinity) =>
  new Promise<string>((resolve) => {
    let came = '';
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => void socket.write(text));
    onTestFinished(() => void socket.destroy());
    socket.on('data', (data) => {
      came += data.toString();
      if (came.split('HTTP/1.1').length > answers) resolve(came);
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(came));
  });

it('answers 400 to a Host that is no address', async () => {
  const service = await runService();
  const program = await start(settingsOf(service.url, { host: '127.0.0.1' }));
  const request = 'GET /live HTTP/1.1\r\nHost: 1.2.3.4.5\r\n\r\n';
  expect(await speak(program.url, request, 1)).toMatch(/^HTTP\/1\.1 400 /);
  await program.stop();
  expect(program.errors).toEqual([]);
});

it('lets a client that is refused send all of its body and read the answer', async () => {
  const service = await runService();
  const rateLimit = { perSecond: 0.001, burst: 1 };
  const program = await start(settingsOf(service.url, { host: '127.0.0.1', rateLimit }));
  await program.send([event('a')]);
  const body = 'x'.repeat(500_000);
  const origin = `Host: x\r\nOrigin: ${ORIGIN}\r\nContent-Type: application/json`;
  const head = `POST /a/v1/batch HTTP/1.1\r\n${origin}\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect(Number(new URL(program.url).port), '127.0.0.1').setEncoding('utf8');
  let came = '';
  socket.on('data', (text: string) => (came += text));
  socket.write(head + body.slice(1));
  await new Promise((resolve) => setTimeout(resolve, 1_000)); // longer than servers mostly wait
  socket.write('xGET /live HTTP/1.1\r\nHost: x\r\n\r\n');
  await vi.waitUntil(() => came.includes('"ok"'));
  expect(came).toMatch(/^HTTP\/1\.1 429 /);
  socket.destroy();
  await program.stop();
});

it('reads its token again when it is told to, and goes on with the one it has if that fails', async () => {
  const folder = tempFolder();
  const path = join(folder, 'token');
  writeFileSync(path, 'tok_old\n');
  const service = await runHeldService();
  service.open();
  const environment = { SERVICE_TOKEN_FILE: path };
  const program = await start(settingsOf(service.url, { token: 'tok_old' }), environment);
  const tokenOf = async (id: string) => {
    await program.send([event(id)]);
    await vi.waitUntil(() => service.names().includes(id));
    return service.got.find(({ body }) => body['event'] === id)!.headers.authorization;
  };
  expect(await tokenOf('a')).toBe('Bearer tok_old');
  writeFileSync(path, 'tok_new\n');
  process.emit('SIGHUP');
  expect(await tokenOf('b')).toBe('Bearer tok_new');
  writeFileSync(path, '');
  process.emit('SIGHUP');
  expect(await tokenOf('c')).toBe('Bearer tok_new');
  await program.stop();
  expect(program.lines).toContain('read the token again');
  expect(program.errors).toEqual([expect.stringContaining('goes on with the token that it has')]);
});

it('leaves no record to another process while a request with it may be under way', async () => {
  const folder = tempFolder();
  const service = await runHeldService();
  const settings = { storeUrl: `file:${folder}`, timeout: 120_000 };
  const program = await start(settingsOf(service.url, settings));
  await program.send([event('a')]);
  await service.arrived(1);
  const later = (ms: number) => {
    const now = () => Date.now() + ms;
    const queue = createLibsqlQueue({ path: join(folder, 'queue.db'), now });
    onTestFinished(() => queue.close());
    return queue;
  };
  expect(await later(160_000).take(1, 1_000)).toEqual([]);
  service.open();
  await program.stop();
  expect(await later(0).size()).toEqual({ waiting: 0, dead: 0 });
});

it('tries again when it is told to, though the service has asked for an hour', async () => {
  const got: string[] = [];
  let isBack = false;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    got.push((JSON.parse(text) as { event: string }).event);
    if (isBack) response.end('{"success":true}');
    else response.writeHead(503, { 'retry-after': '3600' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const program = await start(settingsOf(url, { host: '127.0.0.1', adminPort: 0 }));
  const pausedUntil = async () => {
    const health = await (await fetch(`${program.adminUrl}/health`)).json();
    return (health as { service: { paused_until?: string } }).service.paused_until;
  };
  await program.send([event('a')]);
  await vi.waitUntil(pausedUntil, 20_000);
  isBack = true;
  await program.send([event('b')]);
  process.emit('SIGUSR2');
  // The record that has failed has a wait of its own as well.
  await vi.waitUntil(
    () => got.includes('b') && got.filter((one) => one === 'a').length > 1,
    20_000,
  );
  const tryNow = (method: string) => fetch(`${program.adminUrl}/try-now`, { method });
  expect([(await tryNow('GET')).status, (await tryNow('POST')).status]).toEqual([405, 202]);
  await program.stop();
}, 60_000);

it('ends though clients hold connections with nothing, or half a request, on them', async () => {
  const service = await runService();
  const program = await start(settingsOf(service.url));
  const { port } = new URL(program.url);
  const hold = (text: string) =>
    new Promise<() => boolean>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(text, () => resolve(() => socket.destroyed));
      });
      socket.on('error', () => {});
      onTestFinished(() => void socket.destroy());
    });
  await hold('');
  await hold('POST /a/v1/batch HTTP/1.1\r\nHost: x\r\n');
  const origin = `Host: x\r\nOrigin: ${ORIGIN}\r\nContent-Type: application/json`;
  await hold(`POST /a/v1/batch HTTP/1.1\r\n${origin}\r\nContent-Length: 100\r\n\r\n{`);
  expect((await program.send([event('a')])).status).toBe(200);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let isOver = false;
  void program.stop().then(() => (isOver = true));
  // Where nobody listens for a signal, Node ends the process at once: `npx` and a terminal send it twice.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) expect(process.emit(signal)).toBe(true);
  while (!isOver) await vi.advanceTimersByTimeAsync(1_000);
});

it('names the setting when a port is in use, and says nothing of options in its messages', async () => {
  const service = await runService();
  const first = await start(settingsOf(service.url));
  const port = Number(new URL(first.url).port);
  const log = { info: () => {}, error: () => {} };
  await expect(serveRelay(settingsOf(service.url, { port }), log)).rejects.toThrow(
    `\`PORT\`: port ${port} is in use`,
  );
  await first.stop();
  const refused = await start(settingsOf(service.url, { token: 'tok_wrong' }));
  await refused.send([event('a')]);
  await vi.waitUntil(() => refused.errors.length > 0);
  expect(refused.errors[0]).toBe(
    'setup: the service answers 401: check SERVICE_URL and SERVICE_TOKEN',
  );
  await refused.stop();
});

it('serves over a folder, says once a minute what has passed, and stops when it is told to', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const service = await runService();
  const { lines, errors, send, stop } = await start(settingsOf(service.url));
  expect((await send([event('a'), event('b')])).status).toBe(200);
  await vi.waitUntil(async () => (await service.events()).length === 2);
  vi.advanceTimersByTime(60_000);
  expect(lines[1]).toMatch(/^in: 2 accepted; out: (2 delivered|nothing); \d+ waiting, 0 dead$/);
  vi.advanceTimersByTime(60_000);
  expect(lines[2]).toMatch(/^in: nothing; out: /);

  await stop();
  expect(lines.at(-1)).toMatch(/^stopped\. in: nothing; out: /);
  expect(errors).toEqual([]);
  await expect(send([event('c')])).rejects.toThrow();
});

it('counts a client by the header that the proxy writes', async () => {
  const service = await runService();
  const { url, stop } = await start(settingsOf(service.url, { addressHeader: 'x-real-ip' }));
  const foreign = (n: number) => ({ ...event(`f${n}`), body: { project: 'x' } });
  const body = JSON.stringify({
    sent_at: new Date().toISOString(),
    records: Array.from({ length: 100 }, (_, n) => foreign(n)),
  });
  const send = (address: string) =>
    fetch(`${url}/a/v1/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: ORIGIN, 'x-real-ip': address },
      body,
    });
  const flood = await Promise.all(Array.from({ length: 15 }, () => send('192.0.2.1')));
  expect(flood.some(({ status }) => status === 429)).toBe(true);
  expect((await send('192.0.2.2')).status).toBe(200);
  // A proxy that adds to the header writes behind what the client has sent.
  const forged = await Promise.all(
    Array.from({ length: 15 }, (_, n) => send(`198.51.100.${n}, 192.0.2.3`)),
  );
  expect(forged.some(({ status }) => status === 429)).toBe(true);
  await stop();
});

it('takes the record of the docs, with the settings of the docs', async () => {
  const docs = readFileSync(new URL('../../docs/relay.md', import.meta.url), 'utf8');
  const exported = [...docs.matchAll(/^export (.*)$/gm)].flatMap(([, pairs]) => pairs!.split(' '));
  const shown = Object.fromEntries(exported.map((pair) => pair.split('=') as [string, string]));
  const [, command] = /```sh\n(curl [^`]*)```/.exec(docs)!;
  const [, answer] = /The answer is `(.*?)`/.exec(docs)!;
  const service = await runService();
  const mine = {
    SERVICE_URL: service.url,
    SERVICE_TOKEN: TOKEN,
    STORE_URL: `file:${tempFolder()}`,
  };
  const { url, stop } = await start(readSettings({ ...shown, ...mine, PORT: '0' }));
  const here = command!.replace('http://localhost:3000', url).replace('curl -i', 'curl -is');
  const { stdout } = await promisify(execFile)('sh', ['-c', here]);
  expect(stdout).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(stdout.split('\r\n\r\n')[1]).toBe(answer);
  await vi.waitUntil(async () => (await service.events()).length === 1);
  await stop();
});
