import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../src/program/serve.js';
import { readSettings } from '../../src/program/settings.js';
import { event } from '../server/support/records.js';
import { listen } from '../server/support/relay.js';
import { requestOf } from '../support/curl.js';
import { tempFolder } from '../support/temp-folder.js';
import { ORIGIN, runJudge, runProgram, settingsOf } from './support/run-program.js';

/** The program in front of a service that takes everything. */
const start = async (more: Readonly<Record<string, string>> = {}) => {
  const service = await runJudge();
  return { service, program: await runProgram(settingsOf(service.url, more)) };
};
/** The head of a batch of so many bytes, written by hand. */
const headOf = (bytes: number) =>
  [
    ...['POST /a/v1/batch HTTP/1.1', 'Host: x', `Origin: ${ORIGIN}`],
    ...['Content-Type: application/json', `Content-Length: ${bytes}`, '', ''],
  ].join('\r\n');
/** A connection to the program on which a text was sent, and what has come. */
const speak = (url: string, text: string) => {
  const heard = { text: '' };
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  socket.on('data', (data: string) => (heard.text += data)).on('error', () => {});
  const sent = new Promise<void>((resolve) => socket.write(text, () => resolve()));
  return { socket, heard, sent };
};

it('tells numbers on a port of their own, and strangers only that it is well', async () => {
  const { program } = await start({ ADMIN_PORT: '0' });
  expect((await fetch(`${program.url}/metrics`)).status).toBe(404);
  expect((await fetch(`${program.url}/health`)).status).toBe(401);
  const sent = { method: 'POST', headers: { origin: ORIGIN, 'content-type': 'text/plain' } };
  expect((await fetch(`${program.adminUrl}/a/v1/batch`, sent)).status).toBe(404);
  for (const url of [program.url, program.adminUrl])
    for (const path of ['/live', '/ready'])
      expect(await (await fetch(url + path)).text()).toBe('{"status":"ok"}');
  // What the numbers say is in true-numbers.test.ts.
  const metrics = await (await fetch(`${program.adminUrl}/metrics`)).text();
  expect(metrics).toContain('nodejs_eventloop_lag_seconds ');
});

it('says in its log why the service refuses, in the words of the service, as text', async () => {
  const words = 'The project "p\u001b[2J" is not listed. Add it.';
  const port = await listen((request, response) => {
    request.resume();
    response.writeHead(403, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ code: 403, message: words }));
  });
  const program = await runProgram(settingsOf(`http://127.0.0.1:${port}`));
  await program.send([event('a'), event('b')]);
  await vi.waitUntil(() => program.errors.length > 0);
  expect(program.errors[0]).toContain(
    'the service answers 403 ("The project "p [2J" is not listed. Add it.")',
  );
});

it('answers 400 to a Host that is no address', async () => {
  const { program } = await start();
  const { heard } = speak(program.url, 'GET /live HTTP/1.1\r\nHost: 1.2.3.4.5\r\n\r\n');
  await vi.waitUntil(() => heard.text);
  expect(heard.text).toMatch(/^HTTP\/1\.1 400 /);
  expect(program.errors).toEqual([]);
});

it('lets a client that is refused send all of its body and read the answer', async () => {
  const { program } = await start({ RATE_LIMIT: '0.001/1' });
  await program.send([event('a')]);
  const { socket, heard } = speak(program.url, headOf(500_000) + 'x'.repeat(499_999));
  await new Promise((resolve) => setTimeout(resolve, 1_000)); // longer than servers mostly wait
  socket.write('xGET /live HTTP/1.1\r\nHost: x\r\n\r\n');
  await vi.waitUntil(() => heard.text.includes('"ok"'));
  expect(heard.text).toMatch(/^HTTP\/1\.1 429 /);
});

it('reads its token again when it is told to, and goes on with the one it has if that fails', async () => {
  const path = join(tempFolder(), 'token');
  writeFileSync(path, 'tok_old\n');
  const service = await runJudge();
  const settings = settingsOf(service.url, { SERVICE_TOKEN: 'tok_old' });
  const program = await runProgram(settings, {
    environment: { SERVICE_URL: service.url, SERVICE_TOKEN_FILE: path },
  });
  const tokenOf = async (id: string) => {
    await program.send([event(id)]);
    return vi.waitUntil(() => service.asked.find(({ name }) => name === id)?.authorization);
  };
  expect(await tokenOf('a')).toBe('Bearer tok_old');
  writeFileSync(path, 'tok_new\n');
  process.emit('SIGHUP');
  expect(await tokenOf('b')).toBe('Bearer tok_new');
  writeFileSync(path, '');
  process.emit('SIGHUP');
  expect(await tokenOf('c')).toBe('Bearer tok_new');
  expect(program.lines).toContain('read the token again');
  expect(program.errors).toEqual([expect.stringContaining('goes on with the token that it has')]);
});

it('tries again when it is told to, though the service has asked for an hour', async () => {
  let isBack = false;
  const service = await runJudge(() => (isBack ? 200 : 503));
  const program = await runProgram(settingsOf(service.url, { ADMIN_PORT: '0' }));
  const pausedUntil = async () => {
    const health = await (await fetch(`${program.adminUrl}/health`)).json();
    return (health as { service: { paused_until?: string } }).service.paused_until;
  };
  await program.send([event('a')]);
  await vi.waitUntil(pausedUntil);
  isBack = true;
  await program.send([event('b')]);
  process.emit('SIGUSR2');
  // The record that has failed has a wait of its own as well.
  await vi.waitUntil(() => service.answered(200).length === 2);
  const tryNow = (method: string) => fetch(`${program.adminUrl}/try-now`, { method });
  expect([(await tryNow('GET')).status, (await tryNow('POST')).status]).toEqual([405, 202]);
});

it('ends though clients hold connections with nothing, or half a request, on them', async () => {
  const { program } = await start();
  const halves = ['', 'POST /a/v1/batch HTTP/1.1\r\nHost: x\r\n', `${headOf(100)}{`];
  await Promise.all(halves.map((text) => speak(program.url, text).sent));
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
  const service = await runJudge(() => 401);
  const program = await runProgram(settingsOf(service.url));
  const { port: PORT } = new URL(program.url);
  const effects = {
    ...{ log: { info: () => {}, error: () => {} }, announce: () => {}, environment: {} },
    files: new URL(import.meta.url),
  };
  await expect(serve(settingsOf(service.url, { PORT }), effects)).rejects.toThrow(
    `\`PORT\`: port ${PORT} is in use`,
  );
  await program.send([event('a')]);
  await vi.waitUntil(() => program.errors.length > 0);
  expect(program.errors[0]).toBe(
    'setup: the service answers 401: check SERVICE_URL and SERVICE_TOKEN',
  );
});

it('serves over a folder, says once a minute what has passed, and stops when it is told to', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = tempFolder();
  const { service, program } = await start({ DATA_FOLDER: folder });
  const { lines, errors, send, stop } = program;
  expect(lines[0]).toBe(`stores in file:${folder}/rows.db, passes on to ${service.url}/`);
  expect((await send([event('a'), event('b')])).status).toBe(200);
  await vi.waitUntil(() => service.answered(200).length === 2);
  vi.advanceTimersByTime(60_000);
  expect(lines[2]).toMatch(/^in: 2 delivered; out: ([12] delivered|nothing)$/);
  vi.advanceTimersByTime(60_000);
  expect(lines[3]).toMatch(/^in: nothing; out: /);

  await stop();
  expect(lines.at(-1)).toMatch(/^stopped\. in: nothing; out: /);
  expect(errors).toEqual([]);
  await expect(send([event('c')])).rejects.toThrow();
});

it('takes the record of the docs, with the settings of the docs', async () => {
  const docs = readFileSync(new URL('../../docs/server.md', import.meta.url), 'utf8');
  const exported = [...docs.matchAll(/^export (.*)$/gm)].flatMap(([, pairs]) => pairs!.split(' '));
  const shown = Object.fromEntries(exported.map((pair) => pair.split('=') as [string, string]));
  const [, command] = /```sh\n(curl [^`]*)```/.exec(docs)!;
  const [, answer] = /The answer is `(.*?)`/.exec(docs)!;
  const service = await runJudge();
  const folder = tempFolder();
  const mine = { SERVICE_URL: service.url, SERVICE_TOKEN: 'tok', DATA_FOLDER: folder, PORT: '0' };
  const { url } = await runProgram(readSettings({ ...shown, ...mine }));
  const [path, init] = requestOf(command!, '');
  const response = await fetch(url + path, init);
  expect([response.status, await response.text()]).toEqual([200, answer]);
  await vi.waitUntil(() => service.answered(200).length === 1);
});

it('passes records on while their senders wait where it keeps nothing', async () => {
  const service = await runJudge((name) => (name === 'bad' ? 400 : 200));
  const program = await runProgram(settingsOf(service.url, { DATA_FOLDER: 'none' }));
  const answer = await program.send([event('a'), event('bad')]);
  expect(await answer.json()).toMatchObject({
    results: [{ outcome: 'delivered' }, { outcome: 'rejected', status: 400 }],
  });
  const elsewhere = { method: 'POST', headers: { origin: 'https://evil.example' } };
  expect((await fetch(`${program.url}/any/path/v1/batch`, elsewhere)).status).toBe(403);
  expect((await fetch(`${program.url}/rows`)).status).toBe(404);
  await program.stop();
  expect(program.lines.at(-1)).toBe(
    'stopped. in: 1 delivered, 1 rejected; requests refused: 1 × 403',
  );
});
