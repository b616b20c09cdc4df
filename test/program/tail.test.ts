import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { lineOf, runTail } from '../../src/program/tail.js';
import type { Row } from '../../src/service.js';
import { listen } from '../server/helpers/relay.js';
import { freePort } from '../support/free-port.mjs';
import { tempFolder } from '../support/temp-folder.js';

const ROW: Row = {
  seq: 7,
  id: 'r1',
  type: 'event',
  project: 'shop',
  channel: 'web',
  event: 'Order Placed',
  user_id: 'user_42',
  body: {
    project: 'shop',
    channel: 'web',
    event: 'Order Placed',
    icon: '📚',
    tags: { total: 42, currency: 'EUR' },
    timestamp: '2026-01-01T00:00:00.000Z',
  },
  called_at: '2026-01-01T00:00:00.000Z',
  received_at: '2026-01-01T00:00:01.000Z',
  arrivals: 1,
};

/** A service whose stream a test writes. */
const runStream = async (environment: NodeJS.ProcessEnv = { READ_TOKEN: 'tok' }) => {
  const requests: IncomingMessage[] = [];
  const answers: ServerResponse[] = [];
  const port = await listen((request, response) => {
    requests.push(request);
    answers.push(response.writeHead(200, { 'content-type': 'text/event-stream' }));
    response.flushHeaders();
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const lines: string[] = [];
  const said: string[] = [];
  const tail = (...args: string[]) =>
    void runTail([`http://127.0.0.1:${port}`, ...args], {
      environment: { DATA_FOLDER: tempFolder(), ...environment },
      print: (line) => lines.push(line),
      say: (line) => said.push(line),
      signal: stop.signal,
      pause: 10,
    });
  const connected = (times: number) => vi.waitUntil(() => requests.length === times, 20_000);
  return { requests, answers, lines, said, tail, connected };
};

it('says a row in a line', () => {
  expect(lineOf(ROW).replace(/^\S+/, '')).toBe(
    '  shop · web  📚 Order Placed  user_42  total=42 currency=EUR',
  );
});

it('shows signs that a terminal obeys as text', () => {
  const body = { ...ROW.body, tags: { 'a\u001b[2J': '\u202edlrow' } };
  expect(lineOf({ ...ROW, body } as Row)).toContain('a\\u001b[2J=\\u202edlrow');
});

it('shows them as text in JSON too, which means the same', async () => {
  const { answers, lines, tail, connected } = await runStream();
  tail('--json');
  await connected(1);
  const row = { ...ROW, event: '\u009b2J\u007f\u202e\u2028 🎉' };
  answers[0]!.write(`event: row\ndata: ${JSON.stringify(row)}\n\n`);
  await vi.waitUntil(() => lines.length === 1);
  expect(lines[0]).toContain('\\u009b2J\\u007f\\u202e\\u2028 🎉');
  expect(JSON.parse(lines[0]!)).toEqual(row);
});

it('goes on where it was after a lost connection', async () => {
  const { requests, answers, lines, said, tail, connected } = await runStream();
  tail('--json', '--event', 'A', '--event', 'B', '--project', 'shop');
  await connected(1);
  expect(requests[0]!.url).toBe('/rows?format=sse&project=shop&event=A&event=B');
  expect(requests[0]!.headers.authorization).toBe('Bearer tok');
  const text = `id: 7.3\nevent: row\ndata: ${JSON.stringify(ROW)}\n\n`;
  // Cut in two inside of a sign of several bytes.
  const bytes = Buffer.from(text);
  const half = bytes.indexOf(0x9f);
  answers[0]!.write(bytes.subarray(0, half));
  await new Promise((done) => answers[0]!.write(bytes.subarray(half), done));
  await vi.waitUntil(() => lines.length === 1);
  expect(JSON.parse(lines[0]!)).toEqual(ROW);
  answers[0]!.destroy();
  await connected(2);
  expect(requests[1]!.headers['last-event-id']).toBe('7.3');
  expect(said[0]).toContain('trying again');
});

it('says that the store is another, and goes on with the rows of that one', async () => {
  const { answers, lines, said, tail, connected } = await runStream();
  tail('--json');
  await connected(1);
  answers[0]!.write(`event: replaced\ndata: {}\n\nevent: row\ndata: ${JSON.stringify(ROW)}\n\n`);
  await vi.waitUntil(() => lines.length === 1);
  expect(said).toEqual([expect.stringContaining('its store was replaced')]);
});

it('asks with the token that the service has in the same environment', async () => {
  const folder = tempFolder();
  const path = join(folder, 'secret');
  writeFileSync(path, 'of-file\n');
  writeFileSync(join(folder, 'read-token'), 'made\n');
  for (const [environment, token] of [
    [{ READ_TOKEN: undefined }, 'made'],
    [{ READ_TOKEN_FILE: path }, 'of-file'],
  ] as const) {
    const { requests, tail, connected } = await runStream({ DATA_FOLDER: folder, ...environment });
    tail();
    await connected(1);
    expect(requests[0]!.headers.authorization).toBe(`Bearer ${token}`);
  }
});

it('leaves out what was refused, unless it is asked for', async () => {
  const refused = { received_at: ROW.received_at, status: 400, reason: 'field', message: 'tags' };
  const text = `event: refused\ndata: ${JSON.stringify(refused)}\n\nevent: row\ndata: ${JSON.stringify(ROW)}\n\n`;
  for (const [args, count] of [
    [[], 1],
    [['--refused'], 2],
  ] as const) {
    const { answers, lines, tail, connected } = await runStream();
    tail(...args);
    await connected(1);
    answers[0]!.write(text);
    await vi.waitUntil(() => lines.length >= count && lines.at(-1)!.includes('Order Placed'));
    expect(lines).toHaveLength(count);
  }
});

/** What it says, and how it ends, at an address. */
const tailAt = async (address: string, environment: NodeJS.ProcessEnv = {}) => {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const said: string[] = [];
  const ended = runTail([address], {
    environment: { DATA_FOLDER: tempFolder(), ...environment },
    print: () => {},
    say: (line) => said.push(line),
    signal: stop.signal,
    pause: 10,
  }).then(
    () => 'ended',
    (error: Error) => error.message,
  );
  const spoken = vi.waitUntil(() => said[0], 20_000).catch(() => undefined);
  return Promise.race([ended, spoken]);
};

/** A server that answers everything so. */
const answering = async (status: number, type: string, body: string) =>
  `http://127.0.0.1:${await listen((_, response) => {
    response.writeHead(status, { 'content-type': type }).end(body);
  })}`;

const json = (code: number, message: string) =>
  answering(code, 'application/json', JSON.stringify({ code, message }));

it('says why it cannot connect, and ends where trying again is in vain', async () => {
  const [port, nobody] = [await freePort(), '127.0.0.1'];
  expect(await tailAt(`http://${nobody}:${port}`)).toBe(
    `http://${nobody}:${port}: fetch failed: connect ECONNREFUSED ${nobody}:${port}; trying again`,
  );
  expect(await tailAt('localhost:8787')).toBe(
    '"localhost:8787" is no address: write http://localhost:8787',
  );
  expect(await tailAt('nonsense here')).toContain('is no address');
  const locked = await json(401, 'no');
  expect(await tailAt(locked)).toBe(`${locked} asks for a token: set READ_TOKEN`);
  expect(await tailAt(locked, { READ_TOKEN: 'of-another' })).toBe(
    `${locked} does not know the token that was given: compare READ_TOKEN with that of the service`,
  );
  const closed = await json(403, 'Set a read token\u001b[2J');
  expect(await tailAt(closed)).toBe(
    `${closed}: the service answers 403: Set a read token\\u001b[2J; trying again`,
  );
  const other = await answering(200, 'text/html', '<title>Shop</title>');
  expect(await tailAt(other)).toBe(`${other}: there are no rows, but text/html; trying again`);
});

it('names an argument that it does not know', async () => {
  const effects = { environment: {}, print: () => {}, say: () => {} };
  await expect(runTail(['http://a.test', 'http://b.test'], effects)).rejects.toThrow(
    'unknown argument "http://b.test"',
  );
  await expect(runTail(['--evnt', 'x'], effects)).rejects.toThrow("'--evnt'");
});
