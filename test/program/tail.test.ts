import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runTail } from '../../src/program/tail.js';
import { lineOf, type Terminal } from '../../src/program/tail-lines.js';
import type { Row } from '../../src/service.js';
import { listen } from '../server/support/relay.js';
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
const runStream = async (
  environment: NodeJS.ProcessEnv = { READ_TOKEN: 'tok' },
  terminal?: Terminal,
) => {
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
      say: (line) => (line === `rows of http://127.0.0.1:${port}` ? undefined : said.push(line)),
      signal: stop.signal,
      pause: 10,
      ...(terminal && { terminal }),
    });
  const connected = (times: number) => vi.waitUntil(() => requests.length === times);
  return { requests, answers, lines, said, tail, connected, url: `http://127.0.0.1:${port}` };
};

it('says a row in a line', () => {
  expect(lineOf(ROW).replace(/^\S+/, '')).toBe(
    '  shop · web  📚 Order Placed  user_42  total=42 currency=EUR',
  );
});

it('says what is erased by now in words', async () => {
  const { answers, said, tail, connected } = await runStream();
  tail();
  await connected(1);
  const erased = (more: object) =>
    answers[0]!.write(
      `event: erased\ndata: ${JSON.stringify({ place: 9, project: 'shop', upto: 9, ...more })}\n\n`,
    );
  erased({ user_id: 'user\n42' });
  erased({ channel: 'web', event: 'Test', from: '2026-01-01T00:00:00.000Z', upto: 5 });
  await vi.waitUntil(() => said.length === 2);
  expect(said).toEqual([
    'erased: rows of the project shop before place 9, user user\\u000a42',
    'erased: rows of the project shop before place 5, channel web, event Test, from 2026-01-01T00:00:00.000Z',
  ]);
});

it('shows signs that a terminal obeys as text', () => {
  const body = { ...ROW.body, tags: { 'a\u001b[2J': '\u202edlrow' } };
  expect(lineOf({ ...ROW, body } as Row)).toContain('a\\u001b[2J=\\u202edlrow');
});

const SEQUENCES = ['👩🏽‍💻', '❤️‍🔥', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🇩🇪', 'می‌خواهم'];

it.each(SEQUENCES)('leaves %s in one piece', (text) => {
  expect(lineOf({ ...ROW, event: text, body: { ...ROW.body, event: text } })).toContain(text);
});

describe('in a terminal', () => {
  const COLOURS = { TERM: 'xterm-256color' };
  const createTerminal = (columns: number): Terminal =>
    Object.assign(Object.create(WriteStream.prototype) as Terminal, { columns });
  const rowOf = (event: string, more: Partial<Row> = {}, body: object = {}): Row => ({
    ...{ ...ROW, event, ...more },
    body: { ...ROW.body, event, icon: '', ...body } as Row['body'],
  });
  const refused = { received_at: ROW.received_at, status: 400, reason: 'field' };
  /** The lines of these events, one after the other. */
  const show = async (
    events: readonly (readonly [name: string, data: object])[],
    { columns = 80, environment = COLOURS as NodeJS.ProcessEnv, args = ['--refused'] } = {},
  ) => {
    const terminal = createTerminal(columns);
    const { answers, lines, tail, connected } = await runStream(environment, terminal);
    tail(...args);
    await connected(1);
    for (const [name, data] of events)
      answers[0]!.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
    await vi.waitUntil(() => lines.length === events.length);
    return lines;
  };
  const time = new Date(ROW.received_at).toTimeString().slice(0, 8);

  it('has columns and colours: time and tags dim, names bold in their colours, late in amber, refused in red', async () => {
    const late = { received_at: '2026-01-01T00:02:05.000Z' };
    const later = new Date(late.received_at).toTimeString().slice(0, 8);
    const lines = await show([
      ['row', rowOf('Order Placed')],
      ['row', rowOf('Hi', { user_id: 'u', ...late }, { tags: { a: 1 } })],
      ['refused', { ...refused, message: '`tags` must be an object' }],
    ]);
    expect(lines.map((line) => line.replaceAll('\u001b', ''))).toEqual([
      `[2m${time}[0m  [2mshop · web[0m  [1;38;5;170mOrder Placed[0m  user_42  [2mtotal=42 currency=EUR[0m`,
      `[2m${later}[0m  [2mshop · web[0m  [1;38;5;172mHi[0m            u        [33m2 min 5 s later[0m  [2ma=1[0m`,
      `[2m${time}[0m  [31mrefused 400 (field)  \`tags\` must be an object[0m`,
    ]);
  });

  it('has names in bold alone in a terminal of 16 colours', async () => {
    const [line] = await show([['row', rowOf('Hi')]], { environment: { TERM: 'xterm' } });
    expect(line).toContain('\u001b[1mHi\u001b[0m');
  });

  it.each([{ ...COLOURS, NO_COLOR: '1' }, { TERM: 'dumb' }])(
    'has columns alone, and the words, with %j',
    async (environment) => {
      const late = { received_at: '2026-01-01T00:02:05.000Z' };
      const events = [
        ['row', rowOf('Late', late)],
        ['refused', { ...refused, message: 'm' }],
      ] as const;
      const lines = await show(events, { environment });
      expect(lines[0]).toContain('  shop · web  Late  user_42  2 min 5 s later  total=42');
      expect(lines[1]).toBe(`${time}  refused 400 (field)  m`);
      expect(lines.join('')).not.toContain('\u001b');
    },
  );

  it.each([12, 40, 80, 200])('cuts all that is too long for %i columns', async (columns) => {
    const long = 'x'.repeat(60_000);
    const events = [
      ['row', rowOf('Tag', {}, { tags: { long, [long]: 1 } })],
      ['row', rowOf(long, { user_id: long, project: long, channel: long })],
      ['refused', { ...refused, message: long }],
      ['row', rowOf('A', {}, { tags: { a: '\u200b'.repeat(60_000) } })],
      ['row', rowOf('A', {}, { tags: { a: `e${'\u0301'.repeat(60_000)}` } })],
    ] as const;
    const lines = (await show(events, { columns })).map(stripVTControlCharacters);
    for (const line of lines.slice(0, 4)) expect(line.length).toBeLessThanOrEqual(columns);
    for (const line of [lines[0], lines[2]]) expect(line).toMatch(/…$/);
    expect(lines[4]!.length).toBeLessThan(10 * columns);
    if (columns >= 40) expect(lines[1]).toMatch(/ {2}x+… {2}x+… {2}x+…/);
  });

  it('has columns that one odd row does not spoil', async () => {
    const lines = await show(
      [
        ['row', rowOf('x'.repeat(90), { user_id: 'y'.repeat(90) })],
        ['row', rowOf('Hi', { user_id: 'u' })],
      ],
      { columns: 200, environment: { ...COLOURS, NO_COLOR: '1' } },
    );
    expect(lines[0]).toContain(`  ${'x'.repeat(23)}…  ${'y'.repeat(15)}…  `);
    expect(lines[1]).toContain(`  ${'Hi'.padEnd(24)}  ${'u'.padEnd(16)}  `);
  });

  it('has a rule between the rows that were there and those that come', async () => {
    const terminal = createTerminal(40);
    const { answers, lines, tail, connected } = await runStream(
      { ...COLOURS, NO_COLOR: '1' },
      terminal,
    );
    tail();
    await connected(1);
    const row = `event: row\ndata: ${JSON.stringify(rowOf('Hi'))}\n\n`;
    const ready = 'event: ready\ndata: {}\n\n';
    for (const text of [row, row, ready, row, ready, row]) answers[0]!.write(text);
    await vi.waitUntil(() => lines.length === 5);
    expect(lines.map((line) => line.includes('Hi'))).toEqual([true, true, false, true, true]);
    expect(lines[2]).toBe('── new rows ────────────────────────────');
  });

  it('cuts behind whole signs, of which some are two columns wide', async () => {
    const lines = await show(
      [
        ['row', rowOf('A', {}, { tags: { a: '👩🏽‍💻'.repeat(99) } })],
        ['row', rowOf('A', {}, { tags: { a: '東'.repeat(99) } })],
      ],
      { columns: 50, environment: { ...COLOURS, NO_COLOR: '1' } },
    );
    // Time, place, name and user take 8 + 10 + 1 + 7 columns and 4 gaps, `a=` takes 2, and the ellipsis 1.
    expect(lines[0]!.slice(34)).toBe(`a=${'👩🏽‍💻'.repeat(6)}…`);
    expect(lines[1]!.slice(34)).toBe(`a=${'東'.repeat(6)}…`);
  });

  it('gives JSON whole and plain', async () => {
    const row = rowOf('A', {}, { tags: { a: 'x'.repeat(60_000), b: SEQUENCES.join() } });
    const lines = await show([['row', row]], { columns: 20, args: ['--json'] });
    expect(lines).toEqual([JSON.stringify(row)]);
  });
});

it('gives a pipe whole and plain lines', () => {
  const body = { ...ROW.body, tags: { a: 'x'.repeat(60_000) } };
  expect(lineOf({ ...ROW, body })).toContain(`a=${'x'.repeat(60_000)}`);
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
    const { requests, tail, connected, url } = await runStream({
      ...{ DATA_FOLDER: folder, ...environment },
    });
    writeFileSync(join(folder, 'address'), `${url}\n`);
    tail();
    await connected(1);
    expect(requests[0]!.headers.authorization).toBe(`Bearer ${token}`);
  }
});

it('keeps the token of this folder from other programs', async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'read-token'), 'made\n');
  writeFileSync(join(folder, 'address'), 'http://localhost:1\n');
  const { requests, tail, connected } = await runStream({ DATA_FOLDER: folder });
  tail();
  await connected(1);
  expect(requests[0]!.headers.authorization).toBeUndefined();
});

it('says whom it asks, and where it was told the page of the rows', async () => {
  const said: string[] = [];
  const address = await json(401, 'no token');
  const ended = runTail([`${address}/rows`], {
    ...{ environment: { DATA_FOLDER: tempFolder() }, print: () => {} },
    say: (line) => said.push(line),
  });
  await expect(ended).rejects.toThrow(`${address} asks for a token`);
  expect(said).toEqual([`rows of ${address}`]);
});

it('asks nobody in a folder where no program has run', async () => {
  const folder = tempFolder();
  const ended = runTail([], {
    ...{ environment: { DATA_FOLDER: folder }, print: () => {}, say: () => {} },
  });
  await expect(ended).rejects.toThrow(`no program has run in ${folder}: name its address`);
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
  const spoken = vi.waitUntil(() => said[1]).catch(() => undefined);
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
