import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { getRequestListener } from '@hono/node-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { event, identify } from './support/records.js';
import { bodyOf, fatesOf, listen, ORIGIN, setUpRelay, waitOf } from './support/relay.js';

const MIB = 1024 * 1024;
/** A piece of a body. */
const PIECE = new Uint8Array(65_536).fill(32);

const batchOf = (...records: unknown[]) =>
  JSON.stringify({ sent_at: '2026-01-01T00:00:00.000Z', records });

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

/** A body of so many bytes that comes in pieces as they are read, and does not end by itself. */
const endless = (piece: Uint8Array, { first = piece, most = 64 * MIB } = {}) => {
  const sent = { bytes: 0 };
  const pull = (controller: ReadableStreamDefaultController): Promise<void> | void => {
    if (sent.bytes >= most) return new Promise(() => {});
    controller.enqueue(sent.bytes ? piece : first);
    sent.bytes += piece.length;
  };
  return { sent, body: new ReadableStream({ pull }, { highWaterMark: 0 }) };
};

describe('what may not be sent', () => {
  it.each(['text/html', 'multipart/form-data; boundary=x', ''])(
    'is refused with content type "%s"',
    async (type) => {
      const { batch, service } = setUpRelay();
      expect((await batch([event('a')], { 'content-type': type })).status).toBe(415);
      expect(service.got).toEqual([]);
    },
  );

  it('is refused from a foreign page, or as a form that looks like a beacon', async () => {
    const { batch, service } = setUpRelay();
    const foreign = await batch([event('a')], { origin: 'https://evil.example' });
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([
      403,
      null,
    ]);
    const beacon = { 'content-type': 'text/plain' };
    const form = await batch([event('a')], { ...beacon, 'sec-fetch-mode': 'navigate' });
    expect(form.status).toBe(403);
    expect(service.got).toEqual([]);
    expect((await batch([event('a')], { ...beacon, 'sec-fetch-mode': 'no-cors' })).status).toBe(
      200,
    );
  });
});

describe('bodies that are too large', () => {
  const zipped = { 'content-encoding': 'gzip' };

  it('are refused by the length they declare', async () => {
    const { post } = setUpRelay();
    const { sent, body } = endless(PIECE);
    const { status } = await post('/v1/batch', body, { 'content-length': '10000000000' });
    expect([status, sent.bytes]).toEqual([413, 0]);
  });

  it('are refused while they come, without an end', async () => {
    const { sent, body } = endless(PIECE);
    expect((await setUpRelay().post('/v1/batch', body)).status).toBe(413);
    expect(sent.bytes).toBe(MIB + PIECE.length);
  });

  it('are refused while they are inflated', async () => {
    const { post } = setUpRelay();
    const bomb = gzipSync(Buffer.alloc(64 * MIB));
    expect(bomb.length).toBeLessThan(MIB);
    const growth = await growthDuring(async () => {
      const sent = Array.from({ length: 8 }, () => post('/v1/batch', bomb, zipped));
      const statuses = (await Promise.all(sent)).map(({ status }) => status);
      expect(statuses).toEqual(Array(8).fill(413));
    });
    expect(growth).toBeLessThan(128 * MIB);
  });

  it('are refused though they inflate to nothing', async () => {
    // A gzip header, then stored blocks of no bytes (RFC 1951, section 3.2.4), for ever.
    const first = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
    const { sent, body } = endless(Buffer.alloc(65_535, Buffer.from([0, 0, 0, 0xff, 0xff])), {
      first,
    });
    expect((await setUpRelay().post('/v1/batch', body, zipped)).status).toBe(413);
    expect(sent.bytes).toBeLessThan(2 * MIB);
  });

  it('are refused by the number of their records, and of their values before they are parsed', async () => {
    const { batch, post } = setUpRelay();
    const many = Array.from({ length: 10_000 }, (_, i) => ({ id: `i${i}`, type: 'x', body: {} }));
    expect((await batch(many)).status).toBe(413);
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const objects = gzipSync(`{"a":[${Array(350_000).fill('{}').join(',')}]}`);
    const other = { ...zipped, 'x-client': '192.0.2.2' };
    expect((await post('/v1/batch', objects, other)).status).toBe(413);
    expect(parse.mock.calls.filter(([text]) => text.length > 1_000_000)).toEqual([]);
  });
});

describe('bodies that come piece by piece', () => {
  const text = batchOf(event('a'), event('b', '🎉'));

  it.each([
    ['as they are', Buffer.from(text), null],
    ['compressed', gzipSync(text), 'gzip'],
  ])('are read whole, %s, with a length and without', async (_, bytes, encoding) => {
    const { post, service } = setUpRelay();
    const pieces = () =>
      new ReadableStream({
        start: (controller) => {
          for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      });
    const length = String(bytes.length);
    for (const headers of [{}, { 'content-length': length }]) {
      const all = { ...headers, 'content-encoding': encoding };
      expect((await post('/v1/batch', pieces(), all)).status).toBe(200);
    }
    expect(service.names()).toEqual(['a', '🎉']);
  });
});

describe('bodies that are announced and never sent', () => {
  it.each([
    ['64 of a MiB', 64, MIB],
    ['1,024 of 64 KiB', 1_024, 65_536],
  ])('leave all others served: %s, from 8 addresses', async (_, count, bytes) => {
    const { relay, service } = setUpRelay();
    const port = await listen(getRequestListener((request) => relay(request)));
    const head = [
      ...['POST /a/v1/batch HTTP/1.1', 'Host: shop.example', `Origin: ${ORIGIN}`],
      ...['Content-Type: application/json', `Content-Length: ${bytes}`],
    ];
    const sockets = Array.from({ length: count }, (_, n) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.write([...head, `X-Client: 198.51.100.${n % 8}`, '', ''].join('\r\n'));
      return socket;
    });
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    await Promise.all(sockets.map(async (socket) => socket.connecting && once(socket, 'connect')));
    const visit = async (n: number) => {
      const headers = { 'content-type': 'application/json', 'x-client': `203.0.113.${n}` };
      const body = batchOf(event(`v${n}`));
      const init = { method: 'POST', headers: { origin: ORIGIN, ...headers }, body };
      return (await fetch(`http://127.0.0.1:${port}/a/v1/batch`, init)).status;
    };
    const visits = await Promise.all(Array.from({ length: 100 }, (_, n) => visit(n)));
    expect(visits).toEqual(Array(100).fill(200));
    expect(service.got).toHaveLength(100);
  });
});

describe('bodies that cost more than they weigh', () => {
  const objects = gzipSync(`{"a":[${Array(12_800).fill('{}').join(',')}]}`);

  it.each<[what: string, body: unknown, encoding: string | null, burst: number, answers: number[]]>(
    [
      // Each has 25,600 values, so that 100 tokens pay for one.
      ['many values', objects, 'gzip', 100, [400, 429, 429, 429]],
      ['no records', '{"sent_at":"x","records":[]}', null, 2, [200, 200, 429, 429]],
      ['no JSON', '{', null, 2, [400, 400, 429, 429]],
      ['nothing', '', null, 2, [400, 400, 429, 429]],
      ['a list', '[1]', null, 2, [400, 400, 429, 429]],
      ['too much', gzipSync(Buffer.alloc(2 * MIB)), 'gzip', 256, [413, 429, 429, 429]],
      ['no gzip', Buffer.from('x'), 'gzip', 2, [400, 400, 429, 429]],
      ['another encoding', Buffer.from('x'), 'br', 2, [415, 415, 429, 429]],
    ],
  )('are charged to their client: %s', async (_, body, encoding, burst, answers) => {
    const { post } = setUpRelay({ rateLimit: { perSecond: 0.001, burst } });
    const statuses = [];
    for (let i = 0; i < 4; i++)
      statuses.push((await post('/v1/batch', body, { 'content-encoding': encoding })).status);
    expect(statuses).toEqual(answers);
  });

  it('are held for a client up to 8 MiB at a time, and others find room', async () => {
    const { post, statusFrom } = setUpRelay();
    const held = Array.from({ length: 9 }, () =>
      post('/v1/batch', endless(PIECE, { most: MIB }).body),
    );
    expect((await Promise.race(held)).status).toBe(429);
    expect(await statusFrom('192.0.2.7', event('a'))).toBe(200);
  });

  it('are given up where the rest of them does not come', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { post } = setUpRelay();
    const { body, sent } = endless(PIECE, { most: 1 });
    const answer = post('/v1/batch', body);
    await vi.waitFor(() => expect(sent.bytes).toBeGreaterThan(0));
    await vi.advanceTimersByTimeAsync(10_000);
    // No 408, after which Chromium sends the body again by itself.
    expect(waitOf(await answer)).toEqual([503, '1']);
  });

  it('take no room once they were given up, though all of them comes later', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { post, statusFrom, clock } = setUpRelay();
    const late: (() => void)[] = [];
    const slow = () =>
      new ReadableStream({
        start: (controller) => {
          late.push(() => {
            controller.enqueue(PIECE);
            controller.close();
          });
        },
      });
    // More than a client may have read at a time, in rounds in which each is read in one piece.
    for (let round = 0; round < 10; round++) {
      const answers = Array.from({ length: 16 }, () =>
        post('/v1/batch', slow(), { 'content-length': String(PIECE.length) }),
      );
      await new Promise((resolve) => setImmediate(resolve));
      clock.time += 10_000;
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(16).fill(503));
      for (const send of late.splice(0)) send();
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await statusFrom('192.0.2.1', event('a'))).toBe(200);
  });
});

describe('bodies that make no sense', () => {
  it.each([
    ['of another encoding', 'br', batchOf(event('a')), 415],
    ['encoded twice', 'gzip, gzip', batchOf(event('a')), 415],
    ['not encoded', 'gzip', batchOf(event('a')), 400],
    ['cut off', 'gzip', gzipSync(batchOf(event('a'))).subarray(0, 40), 400],
    ['no UTF-8', null, Buffer.from(batchOf(event('a', 'caf\u00e9')), 'latin1'), 400],
  ])('are refused: %s', async (_, encoding, body, status) => {
    const { post, service } = setUpRelay();
    expect((await post('/v1/batch', body, { 'content-encoding': encoding })).status).toBe(status);
    expect(service.got).toEqual([]);
    const good = gzipSync(batchOf(event('a')));
    expect((await post('/v1/batch', good, { 'content-encoding': 'gzip' })).status).toBe(200);
  });

  it.each(['gzip', 'x-gzip', 'GZIP', 'identity', 'Identity', 'identity, gzip', ''])(
    'are no bodies of which the encoding is only written in another way: %s',
    async (encoding) => {
      const { post } = setUpRelay();
      const text = batchOf(event('a'));
      const body = /gzip/i.test(encoding) ? gzipSync(text) : text;
      expect((await post('/v1/batch', body, { 'content-encoding': encoding })).status).toBe(200);
    },
  );

  const ID = 'records[0].id must have 1 to 255 visible ASCII characters';
  it.each([
    ['', 'the body is no JSON'],
    ['{', 'the body is no JSON'],
    ['null', 'the body must be an object'],
    ['[]', 'the body must be an object'],
    [`${'['.repeat(16_000)}${']'.repeat(16_000)}`, 'the body must be an object'],
    ['{"sent_at":1,"records":[]}', 'sent_at must be a string'],
    ['{"sent_at":"x"}', 'records must be a list'],
    ['{"sent_at":"x","records":{}}', 'records must be a list'],
    [batchOf(event('a'), 1), 'records[1] must be an object'],
    [batchOf(null), 'records[0] must be an object'],
    [batchOf({ type: 'event', body: {} }), ID],
    ...[1, '', ' a', 'x'.repeat(256), 'a\r\nx-evil: 1', 'é'].map((id) => [
      batchOf({ ...event('a'), id }, event('good')),
      ID,
    ]),
  ])('are refused as a whole, in words: %.60s', async (body, words) => {
    const { post, service } = setUpRelay();
    const refused = { code: 400, message: 'Invalid request data', detail: words };
    expect(await bodyOf(await post('/v1/batch', body))).toEqual([400, refused]);
    expect(service.got).toEqual([]);
  });
});

describe('records that may not be stored', () => {
  const wrong = (body: object, type = 'event') => ({ id: 'bad', type, body });
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const withTags = (tags: string) => JSON.stringify(event('bad')).replace('}', `,"tags":${tags}}`);
  const { body } = event('a');

  it.each<[what: string, record: unknown, status: number, field?: string]>([
    [
      'too large',
      { ...event('bad'), body: { ...event('bad').body, description: 'x'.repeat(131_072) } },
      413,
    ],
    ['30,000 levels', withTags(deep(30_000)), 400],
    ['201 levels', withTags(deep(200)), 400],
    ['an unknown type', wrong(body, '../admin'), 400, 'type'],
    ['a type of a prototype', wrong(body, 'constructor'), 400, 'type'],
    ['a list for a type', { ...event('bad'), type: ['event'] }, 400, 'type'],
    ['no body', '{"id":"bad","type":"event"}', 400],
    ['no event', wrong({ project: 'p', channel: 'c' }), 400, 'event'],
    ['no properties', wrong({ project: 'p', user_id: 'u' }, 'identify'), 400, 'properties'],
    ['a user of over a kilobyte', event('bad', 'e', 'u'.repeat(1_025)), 400, 'user_id'],
    ['the same to identify', identify('bad', 'é'.repeat(513)), 400, 'user_id'],
    ['another project', wrong({ ...body, project: 'q' }), 403],
    ['another channel', wrong({ ...body, channel: 'd' }), 403],
  ])('do not hold up their neighbours: %s', async (_, record, status, field) => {
    const { post, service } = setUpRelay();
    const bad = typeof record === 'string' ? record : JSON.stringify(record);
    const text = `{"sent_at":"x","records":[${JSON.stringify(event('a'))},${bad},${JSON.stringify(event('b'))}]}`;
    const response = await post('/v1/batch', text);
    const { results } = (await response.clone().json()) as { results: object[] };
    expect(await fatesOf(response)).toEqual([
      ['a', 'delivered', 200],
      ['bad', status === 403 ? 'blocked' : 'rejected', status],
      ['b', 'delivered', 200],
    ]);
    if (field) expect(results[1]).toMatchObject({ field });
    expect(service.names()).toEqual(['a', 'b']);
  });

  it.each([
    [{ ...body, tags: [] }, '`tags` must be an object'],
    ['{', 'The body is no JSON.'],
  ])('are answered alone as in a batch, in words: %j', async (sent, detail) => {
    const answer = await bodyOf(await setUpRelay().post('/v1/event', sent));
    expect(answer).toEqual([400, { code: 400, message: 'Invalid request data', detail }]);
  });

  it.each(['é', 'a\tb', 'x'.repeat(256)])(
    'are refused with a key that is not honoured: "%s"',
    async (key) => {
      const { post, service } = setUpRelay();
      const message = 'Invalid request data';
      const detail = '`Idempotency-Key` must have 1 to 255 visible ASCII characters';
      const response = await post('/v1/event', body, { 'idempotency-key': key });
      expect(await bodyOf(response)).toEqual([400, { code: 400, message, detail }]);
      expect(service.got).toEqual([]);
    },
  );

  it('are not those with words that mean something to JavaScript', async () => {
    const { outcomes, service } = setUpRelay();
    const tags = { constructor: 'Ferrari', prototype: 'F40', toString: 'x', hasOwnProperty: 1 };
    const record = { ...event('a'), body: { ...body, tags } };
    expect(await outcomes(record)).toEqual([['a', 'delivered']]);
    expect(service.got[0]!.body['tags']).toEqual(tags);
  });
});

it('takes for repeats only those of one operation of one project', async () => {
  const { post, batch, service } = setUpRelay({ projects: ['p', 'q'] });
  const records = ['p', 'q'].flatMap((project) =>
    [event('x', 'x', 'u'), identify('x', 'u')].map(({ body, ...rest }) => ({
      ...rest,
      body: { ...body, project },
    })),
  );
  for (let repeat = 0; repeat < 2; repeat++) {
    for (const { type, body } of records)
      expect((await post(`/v1/${type}`, body, { 'idempotency-key': 'x' })).status).toBe(200);
    expect(new Set((await fatesOf(batch(records))).flat())).toEqual(
      new Set(['x', 'delivered', 200]),
    );
  }
  expect(service.got.map(({ path, body }) => [path, body['project']])).toEqual(
    records.map(({ type, body }) => [`/v1/${type}`, body.project]),
  );
});

it('slows a flood down by default, under all addresses of its network', async () => {
  const { statusFrom } = setUpRelay();
  const statuses = [];
  for (let i = 0; i < 20; i++) {
    const records = Array.from({ length: 100 }, (_, n) => ({ ...event(`${i}-${n}`), type: 'x' }));
    statuses.push(await statusFrom(`2001:db8::${i.toString(16)}:1`, ...records));
  }
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(5);
});
