import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { BatchAnswer } from '../../../src/interface/wire.js';
import { event, identify } from '../helpers/records.js';
import { ORIGIN, runRelay } from '../helpers/run-relay.js';

const MIB = 1024 * 1024;
const MAX_BYTES = MIB;
/** What sockets on both sides may have taken in beside what the relay has read. */
const BUFFERS = 8 * MIB;

const head = (...lines: string[]) => [
  'POST /a/v1/batch HTTP/1.1',
  `Origin: ${ORIGIN}`,
  'Content-Type: application/json',
  ...lines,
];
const batchOf = (...records: unknown[]) =>
  JSON.stringify({ sent_at: '2026-01-01T00:00:00.000Z', records });
const outcomesOf = async (response: Response) =>
  ((await response.json()) as BatchAnswer).results.map(({ id, outcome, status }) => [
    id,
    outcome,
    status,
  ]);

/** The most bytes this process held beyond what it had, while something was done. */
const growthDuring = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 5);
  await work().finally(() => clearInterval(timer));
  return Math.max(most, process.memoryUsage().rss) - before;
};

function* endless(piece: Buffer, most: number): Generator<Buffer> {
  for (let size = 0; size < most; size += piece.length) yield piece;
}

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

describe('pages that may not send', () => {
  it.each([
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['a longer origin', { origin: `${ORIGIN}.evil.example` }],
    ['no origin', { origin: null }],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ])('are refused: %s', async (_, headers) => {
    const { batch, stored } = await runRelay();
    const response = await batch([event('a')], headers);
    expect(response.status).toBe(403);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(await stored()).toBe(0);
  });

  it('are refused as forms, though they look like a beacon', async () => {
    const { raw, stored } = await runRelay();
    const body = Buffer.from(batchOf(event('a')));
    const send = (mode: string) =>
      raw(
        [
          'POST /a/v1/batch HTTP/1.1',
          `Origin: ${ORIGIN}`,
          'Content-Type: text/plain',
          `Sec-Fetch-Mode: ${mode}`,
          `Content-Length: ${body.length}`,
        ],
        [body],
      );
    expect((await send('navigate')).status).toBe(403);
    expect(await stored()).toBe(0);
    expect((await send('no-cors')).status).toBe(200);
    expect(await stored()).toBe(1);
  });

  it.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/html',
    '',
  ])('are refused with content type "%s"', async (type) => {
    const { batch, stored } = await runRelay();
    expect((await batch([event('a')], { 'content-type': type })).status).toBe(415);
    expect(await stored()).toBe(0);
  });
});

describe('bodies that are too large', () => {
  it('are cut off at the length they declare', async () => {
    const { raw, stored } = await runRelay();
    const { text } = await raw(
      head('Content-Length: 10'),
      endless(Buffer.alloc(65_536, 'x'), 64 * MIB),
    );
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(await stored()).toBe(0);
  });

  it('are refused by the length they declare', async () => {
    const { raw, stored } = await runRelay();
    const { status, written } = await raw(head('Content-Length: 10000000000'), []);
    expect([status, written]).toEqual([413, 0]);
    expect(await stored()).toBe(0);
  });

  it('are refused while they come, without an end', async () => {
    const { raw, stored } = await runRelay();
    const piece = chunk(Buffer.alloc(65_536, ' '));
    const growth = await growthDuring(async () => {
      const answer = await raw(head('Transfer-Encoding: chunked'), endless(piece, 1_024 * MIB));
      expect(answer.status).toBe(413);
      expect(answer.written).toBeLessThan(MAX_BYTES + BUFFERS);
    });
    expect(growth).toBeLessThan(64 * MIB);
    expect(await stored()).toBe(0);
  });

  it('are refused while they are inflated', async () => {
    const { post, stored } = await runRelay();
    const bomb = await zeros(512 * MIB);
    expect(bomb.length).toBeLessThan(MAX_BYTES);
    const growth = await growthDuring(async () => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => post('/v1/batch', bomb, { 'content-encoding': 'gzip' })),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array<number>(8).fill(413));
    });
    expect(growth).toBeLessThan(128 * MIB);
    expect(await stored()).toBe(0);
  });

  it('are refused though they inflate to nothing', async () => {
    const { raw } = await runRelay();
    // A gzip header, then stored blocks of no bytes (RFC 1951, section 3.2.4), for ever.
    const start = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
    const empty = chunk(Buffer.alloc(65_535, Buffer.from([0, 0, 0, 0xff, 0xff])));
    function* pieces() {
      yield chunk(start);
      yield* endless(empty, 1_024 * MIB);
    }
    const lines = head('Transfer-Encoding: chunked', 'Content-Encoding: gzip');
    const { status, written } = await raw(lines, pieces());
    expect(status).toBe(413);
    expect(written).toBeLessThan(MAX_BYTES + BUFFERS);
  });

  it('are refused by the number of records', async () => {
    const { batch, stored } = await runRelay();
    const records = Array.from({ length: 10_000 }, (_, i) => ({
      id: `i${i}`,
      type: 'event',
      body: {},
    }));
    expect((await batch(records)).status).toBe(413);
    expect(await stored()).toBe(0);
  });
});

describe('bodies that cost more than they weigh', () => {
  const objects = (count: number) => gzipSync(`{"a":[${Array(count).fill('{}').join(',')}]}`);
  const zipped = { 'content-encoding': 'gzip' };

  it('are refused by the number of their values, before they are parsed', async () => {
    const { post } = await runRelay();
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    expect((await post('/v1/batch', objects(350_000 - 1), zipped)).status).toBe(413);
    expect(parse.mock.calls.filter(([text]) => text.length > 1_000_000)).toEqual([]);
  });

  it('are charged to their client, whatever is in them', async () => {
    const { post } = await runRelay({ rateLimit: { perSecond: 0.001, burst: 100 } });
    const statuses = [];
    for (let i = 0; i < 4; i++) {
      statuses.push((await post('/v1/batch', objects(12_800), zipped)).status);
    }
    // Each has 25,600 values, so that 100 tokens pay for one.
    expect(statuses).toEqual([400, 429, 429, 429]);
  });

  it.each(['{"sent_at":"x","records":[]}', '{', '', '[1]'])(
    'are charged though there is no record in them: %s',
    async (body) => {
      const { post } = await runRelay({ rateLimit: { perSecond: 0.001, burst: 3 } });
      const statuses = [];
      for (let i = 0; i < 5; i++) statuses.push((await post('/v1/batch', body)).status);
      expect(statuses.slice(3)).toEqual([429, 429]);
    },
  );
});

describe('bodies that are refused before they are read', () => {
  it.each([
    ['too large', gzipSync(Buffer.alloc(2 * MIB)), 413, 256],
    ['no gzip', Buffer.from('x'), 400, 2],
    ['of another encoding', Buffer.from('x'), 415, 2],
  ])('are charged to their client for what was read: %s', async (_, body, refusal, burst) => {
    const { post } = await runRelay({ rateLimit: { perSecond: 0.001, burst } });
    const encoding = refusal === 415 ? 'br' : 'gzip';
    const statuses = [];
    for (let i = 0; i < 4; i++) {
      statuses.push((await post('/v1/batch', body, { 'content-encoding': encoding })).status);
    }
    const passed = refusal === 413 ? 1 : 2;
    expect(statuses).toEqual([0, 1, 2, 3].map((i) => (i < passed ? refusal : 429)));
  });

  it('are held for a client up to 8 MiB at a time, and others find room', async () => {
    const { raw, batch } = await runRelay({
      clientAddress: (request) => request.headers.get('x-client') ?? undefined,
      bodyTimeout: 2_000,
    });
    const mostOfIt = Buffer.alloc(MIB - 1, 'x');
    const half = () => raw(head('X-Client: 192.0.2.66', `Content-Length: ${MIB}`), [mostOfIt]);
    const held = Array.from({ length: 9 }, half);
    expect((await Promise.race(held)).status).toBe(429);
    expect((await batch([event('a')], { 'x-client': '192.0.2.7' })).status).toBe(200);
    const statuses = (await Promise.all(held)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array<number>(8).fill(408), 429]);
  });
});

describe('bodies that do not come, or make no sense', () => {
  it('are given up after a while', async () => {
    const { raw, stored } = await runRelay({ bodyTimeout: 50 });
    const { status } = await raw(head('Content-Length: 1000'), [Buffer.from('{"sent_at":')]);
    expect(status).toBe(408);
    expect(await stored()).toBe(0);
  });

  it('are refused in an encoding nobody speaks, or that is not true', async () => {
    const { post, stored } = await runRelay();
    const text = batchOf(event('a'));
    const encoded = (encoding: string, body: unknown) =>
      post('/v1/batch', body, { 'content-encoding': encoding });
    expect((await encoded('br', text)).status).toBe(415);
    expect((await encoded('gzip, gzip', text)).status).toBe(415);
    expect((await encoded('gzip', text)).status).toBe(400);
    expect((await encoded('gzip', gzipSync(text).subarray(0, 40))).status).toBe(400);
    expect(await stored()).toBe(0);
    expect((await encoded('gzip', gzipSync(text))).status).toBe(200);
    expect(await stored()).toBe(1);
  });

  it.each([
    '',
    'null',
    '1',
    '[]',
    '{',
    '{}',
    '{"sent_at":1,"records":[]}',
    '{"sent_at":"x","records":{}}',
    batchOf(null),
    batchOf([]),
    batchOf({ type: 'event', body: {} }),
    batchOf({ ...event('a'), id: 1 }),
    batchOf({ ...event('a'), id: '' }),
    batchOf({ ...event('a'), id: 'x'.repeat(65) }),
    batchOf({ ...event('a'), id: 'a\r\nx-evil: 1' }),
    batchOf(event('good'), { ...event('a'), id: 'é' }),
    `${'['.repeat(16_000)}${']'.repeat(16_000)}`,
  ])('are refused as a whole: %.60s', async (body) => {
    const { post, stored } = await runRelay();
    const response = await post('/v1/batch', body);
    expect(response.status).toBe(400);
    const message = expect.stringMatching(/^Invalid request data: /) as string;
    expect(await response.json()).toEqual({ code: 400, message });
    expect(await stored()).toBe(0);
  });

  it.each([
    ['{', 'the body is no JSON'],
    ['{"sent_at":1,"records":[]}', 'sent_at must be a string'],
    ['{"sent_at":"x"}', 'records must be a list'],
    [batchOf(event('a'), 1), 'records[1] must be an object'],
    [
      batchOf({ ...event('a'), id: 'é' }),
      'records[0].id must have 1 to 64 letters, digits, - and _',
    ],
  ])('are answered with what is wrong: %s', async (body, words) => {
    const { post } = await runRelay();
    expect(await (await post('/v1/batch', body)).json()).toMatchObject({
      message: `Invalid request data: ${words}`,
    });
  });

  it.each([
    [{ ...event('a'), type: 'page' }, 'type'],
    [{ ...event('a'), body: { project: 'p', channel: 'c' } }, 'event'],
    [{ ...event('a'), body: { ...event('a').body, tags: [] } }, 'tags'],
    [event('a', 'e', 'u'.repeat(1_025)), 'user_id'],
    [{ id: 'a', type: 'identify', body: { project: 'p', user_id: 'u' } }, 'properties'],
  ])('name the wrong field of a record: %j', async (record, field) => {
    const { batch, post } = await runRelay();
    expect(await (await batch([event('good'), record])).json()).toMatchObject({
      results: [{ outcome: 'delivered' }, { id: 'a', outcome: 'rejected', status: 400, field }],
    });
    if (record.type === 'page') return;
    expect(await (await post(`/v1/${record.type}`, record.body)).json()).toEqual({
      code: 400,
      message: `Invalid request data: ${field}`,
    });
  });

  it('are refused when they are not UTF-8', async () => {
    const { post, stored } = await runRelay();
    const body = Buffer.from(batchOf(event('a', 'caf\u00e9')), 'latin1');
    expect((await post('/v1/batch', body)).status).toBe(400);
    expect(await stored()).toBe(0);
  });
});

describe('records that may not be stored', () => {
  it('are refused alone where they are too large', async () => {
    const { batch, stored } = await runRelay();
    const large = event('large', 'x'.repeat(65_536));
    expect(await outcomesOf(await batch([event('a'), large, event('b')]))).toEqual([
      ['a', 'delivered', 200],
      ['large', 'rejected', 413],
      ['b', 'delivered', 200],
    ]);
    expect(await stored()).toBe(2);
  });

  const withTags = (id: string, tags: string) =>
    `{"id":"${id}","type":"event","body":{"project":"p","channel":"c","event":"e","tags":${tags}}}`;
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

  it.each([
    ['30,000 levels', withTags('bad', deep(30_000))],
    ['201 levels', withTags('bad', deep(200))],
    ['an unknown type', JSON.stringify({ ...event('bad'), type: '../admin' })],
    ['a type of a prototype', JSON.stringify({ ...event('bad'), type: 'constructor' })],
    ['a list for a type', JSON.stringify({ ...event('bad'), type: ['event'] })],
    ['no body', '{"id":"bad","type":"event"}'],
    ['a user of more than a kilobyte', JSON.stringify(event('bad', 'e', 'u'.repeat(1_025)))],
    [
      'a user of more than a kilobyte, to identify',
      JSON.stringify(identify('bad', 'é'.repeat(513))),
    ],
    [
      'a number for a name',
      JSON.stringify({ ...event('bad'), body: { project: 'p', channel: 'c', event: 1 } }),
    ],
    [
      'another project',
      JSON.stringify({ ...event('bad'), body: { project: 'q', channel: 'c', event: 'e' } }),
    ],
    [
      'another channel',
      JSON.stringify({ ...event('bad'), body: { project: 'p', channel: 'd', event: 'e' } }),
    ],
  ])('do not hold up their neighbours: %s', async (what, bad) => {
    const { post, stored } = await runRelay();
    const body = `{"sent_at":"x","records":[${JSON.stringify(event('a'))},${bad},${JSON.stringify(event('b'))}]}`;
    const response = await post('/v1/batch', body);
    expect(await outcomesOf(response)).toEqual([
      ['a', 'delivered', 200],
      what.startsWith('another') ? ['bad', 'blocked', 403] : ['bad', 'rejected', 400],
      ['b', 'delivered', 200],
    ]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(await stored()).toBe(2);
  });

  it.each(['a b; c', '', 'é', 'x'.repeat(65), '"quoted"'])(
    'are refused with a key that is not honoured: "%s"',
    async (key) => {
      const { post, stored } = await runRelay();
      const response = await post('/v1/event', event('x').body, { 'idempotency-key': key });
      expect([response.status, await response.json()]).toEqual([
        400,
        { code: 400, message: 'Idempotency-Key must have 1 to 64 letters, digits, - and _' },
      ]);
      expect(await stored()).toBe(0);
    },
  );
});

describe('words that mean something to JavaScript', () => {
  it('are ordinary data', async () => {
    const { batch, service } = await runRelay();
    const tags = { constructor: 'Ferrari', prototype: 'F40', toString: 'x', hasOwnProperty: 1 };
    const { body } = event('a');
    const response = await batch([{ ...event('a'), body: { ...body, tags } }]);
    expect(await outcomesOf(response)).toEqual([['a', 'delivered', 200]]);
    expect((await service.events()).map((row) => row['tags'])).toEqual([tags]);
  });
});

describe('repeats', () => {
  it('are stored once, and answered as the first', async () => {
    const { post, stored } = await runRelay();
    const body = batchOf(identify('i', 'u'), event('a'), event('a'), event('b'));
    const first = await (await post('/v1/batch', body)).text();
    for (let repeat = 0; repeat < 10; repeat++) {
      expect(await (await post('/v1/batch', body)).text()).toBe(first);
    }
    expect(await stored()).toBe(3);
  });

  it('are stored once when 50 come together', async () => {
    // Without the key, so that the relay alone is what removes them.
    const { batch, stored } = await runRelay({ idempotencyKey: false });
    const answers = await Promise.all(
      Array.from({ length: 50 }, async () => outcomesOf(await batch([event('a'), event('b')]))),
    );
    for (const outcomes of answers) {
      expect(outcomes).toEqual([
        ['a', 'delivered', 200],
        ['b', 'delivered', 200],
      ]);
    }
    expect(await stored()).toBe(2);
  });
});

describe('a key', () => {
  const projects = ['p', 'q'];
  const eventOf = (project: string) => ({ ...event('x').body, project });
  const profileOf = (project: string) => ({ ...identify('x', 'u').body, project });
  const all = [
    ['/v1/event', 'p', eventOf('p')],
    ['/v1/identify', 'p', profileOf('p')],
    ['/v1/event', 'q', eventOf('q')],
    ['/v1/identify', 'q', profileOf('q')],
  ] as const;
  const rows = async ({ service }: Awaited<ReturnType<typeof runRelay>>) =>
    [...(await service.events()), ...(await service.identifies())]
      .map(({ project, idempotency_key: key }) => [project, key])
      .sort();

  it.each([true, false])(
    'belongs to one operation of one project (with a key toward the service: %s)',
    async (idempotencyKey) => {
      const world = await runRelay({ projects, idempotencyKey });
      for (const repeat of [1, 2]) {
        for (const [path, , body] of all) {
          const { status } = await world.post(path, body, { 'idempotency-key': 'order-17' });
          expect([repeat, status]).toEqual([repeat, 200]);
        }
      }
      const key = idempotencyKey ? 'order-17' : null;
      expect(await rows(world)).toEqual(['p', 'p', 'q', 'q'].map((project) => [project, key]));
    },
  );

  it('belongs to one operation of one project in a batch, too', async () => {
    const world = await runRelay({ projects });
    const records = all.map(([path, , body]) => ({ id: 'a', type: path.slice(4), body }));
    for (let repeat = 0; repeat < 2; repeat++) {
      expect(await outcomesOf(await world.batch(records))).toEqual(
        records.map(() => ['a', 'delivered', 200]),
      );
    }
    expect(await rows(world)).toEqual(['p', 'p', 'q', 'q'].map((project) => [project, 'a']));
  });
});

describe('a flood', () => {
  it('is slowed down, each client by itself', async () => {
    const { batch, stored } = await runRelay({
      clientAddress: (request) => request.headers.get('x-client') ?? undefined,
      rateLimit: { perSecond: 0.001, burst: 10 },
    });
    const send = (client: string, id: number) =>
      batch([event(`${client}${id}`)], { 'x-client': client });
    const statuses = [];
    for (let id = 0; id < 30; id++) statuses.push((await send('flood', id)).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
    expect((await send('other', 0)).status).toBe(200);
    expect(await stored()).toBe(11);
  });

  it('is slowed down by default, under all addresses of its network', async () => {
    const { batch, stored } = await runRelay({
      clientAddress: (request) => request.headers.get('x-client') ?? undefined,
    });
    const send = async (i: number) => {
      const client = `2001:db8::${i.toString(16)}:1`;
      const records = Array.from({ length: 100 }, (_, n) => ({ ...event(`${i}-${n}`), type: 'x' }));
      return (await batch(records, { 'x-client': client })).status;
    };
    const statuses = [];
    for (let i = 0; i < 20; i++) statuses.push(await send(i));
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(5);
    expect(await stored()).toBe(0);
  });
});

describe('what reaches the service', () => {
  it('has none of the headers of the client', async () => {
    const heads: string[][] = [];
    const upstream = createServer((request, response) => {
      heads.push(request.rawHeaders);
      response.end('{"success":true}');
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      upstream.closeAllConnections();
      upstream.close();
    });
    const { batch } = await runRelay({
      baseUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    });
    const theirs = {
      cookie: 'session=their-own',
      authorization: 'Bearer their-own',
      'x-forwarded-for': 'their-own',
      'x-their-own': '1',
      referer: 'https://shop.example/their-own',
      'user-agent': 'their-own',
    };
    expect((await batch([event('a')], theirs)).status).toBe(200);
    expect(heads).toHaveLength(1);
    expect(heads.join()).not.toContain('their-own');
  });
});

/** So many zeros, compressed a thousandfold, without ever holding them. */
async function zeros(bytes: number): Promise<Buffer> {
  const gzip = createGzip({ level: 9 });
  const pieces: Buffer[] = [];
  gzip.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = new Promise<void>((resolve) => gzip.on('end', resolve));
  const piece = Buffer.alloc(MIB);
  for (let size = 0; size < bytes; size += MIB) {
    if (!gzip.write(piece)) await new Promise<void>((resolve) => gzip.once('drain', resolve));
  }
  gzip.end();
  await ended;
  return Buffer.concat(pieces);
}
