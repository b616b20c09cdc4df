import { describe, expect, it, vi } from 'vitest';
import type { BatchRecord } from '../../src/interface/wire.js';
import { event, identify } from './support/records.js';
import { bodyOf, ORIGIN, resultsOf, setUpRelay, waitOf } from './support/relay.js';

type World = ReturnType<typeof setUpRelay>;

describe('a batch', () => {
  it.each(['application/json', 'text/plain;charset=UTF-8'])('is passed on as %s', async (type) => {
    const { service, metrics, batch } = setUpRelay();
    const records = [identify('i', 'u'), event('e', 'e', 'u')];
    const response = await batch(records, { 'content-type': type });
    const results = ['i', 'e'].map((id) => ({ id, outcome: 'delivered', status: 200 }));
    expect(await bodyOf(response)).toEqual([200, { results }]);
    expect(service.names()).toEqual(['identify u', 'e']);
    expect(metrics).toEqual([
      'upstream_ms 0 200',
      'upstream_ms 0 200',
      'records 1 in delivered',
      'records 1 in delivered',
      'requests 1 batch 200',
    ]);
  });
});

describe('a value that is not listed', () => {
  const toChannel = (id: string, channel: string): BatchRecord => ({
    ...event(id),
    body: { project: 'p', channel, event: 'e' },
  });
  const toProject = (id: string, project: string): BatchRecord => ({
    ...identify(id, 'u'),
    body: { project, user_id: 'u', properties: {} },
  });

  it('is told by its field, and to the operator by its name, once', async () => {
    const { errors, metrics, clock, service, batch } = setUpRelay();
    const records = [toChannel('a', 'growth'), toChannel('b', 'growth'), toProject('i', 'blog')];
    const blocked = { outcome: 'blocked', status: 403 };
    for (let repeat = 0; repeat < 3; repeat++) {
      expect(await resultsOf(batch(records))).toMatchObject([
        { id: 'a', ...blocked, unlisted: 'channel' },
        { id: 'b', ...blocked, unlisted: 'channel' },
        { id: 'i', ...blocked, unlisted: 'project' },
      ]);
    }
    const told = [
      { kind: 'unlisted', message: 'channel "growth" is not in the list `channels`' },
      { kind: 'unlisted', message: 'project "blog" is not in the list `projects`' },
    ];
    expect(errors).toEqual(told);
    expect(metrics.filter((line) => line === 'records 1 in blocked')).toHaveLength(9);
    clock.time += 86_400_000;
    await batch(records);
    expect(errors).toEqual([...told, ...told]);
    expect(service.got).toEqual([]);
  });

  it('is told apart from one that a visitor has invented, as long as others may be named', async () => {
    const { errors, batch } = setUpRelay({ rateLimit: false });
    const invent = (ip: string) => {
      const records = Array.from({ length: 100 }, (_, i) => toChannel(`e${i}`, `${ip} ${i}`));
      return batch(records, { 'x-client': ip });
    };
    await invent('192.0.2.1');
    expect(errors).toHaveLength(5);
    await batch([toChannel('a', 'growth')], { 'x-client': '192.0.2.2' });
    expect(errors.at(-1)!.message).toBe('channel "growth" is not in the list `channels`');
    for (let i = 3; i < 40; i++) await invent(`192.0.2.${i}`);
    expect(errors).toHaveLength(100);
    expect(errors.at(-1)!.message).toMatch(/; no other value is named today$/);
  });

  it('deceives nobody who reads a log, and is cut', async () => {
    const { errors, batch } = setUpRelay();
    const odd = '\n\u001b[31m\u009b\u202e\u2028"\ud800' + 'x'.repeat(900);
    await batch([toChannel('a', odd)]);
    expect(errors.map(({ message }) => message)).toEqual([
      `channel "\ufffd\ufffd[31m\ufffd\ufffd\ufffd\\"\ufffd${'x'.repeat(64 - 11)}" is not in the list \`channels\``,
    ]);
  });

  it.each([
    ['channel', '/v1/event', toChannel('a', 'growth')],
    ['project', '/v1/identify', toProject('a', 'blog')],
  ])('(%s) is answered 403 at %s', async (field, path, { body }) => {
    const { errors, service, post } = setUpRelay();
    const response = await post(path, body, { 'idempotency-key': 'k' });
    const message = expect.stringMatching(`The server does not list the ${field} "`) as string;
    expect(await bodyOf(response)).toEqual([403, { code: 403, message }]);
    expect(errors).toMatchObject([{ kind: 'unlisted' }]);
    expect(service.got).toEqual([]);
  });
});

describe('the two single operations', () => {
  it('answer as the service does', async () => {
    const { service, post } = setUpRelay();
    const headers = { authorization: 'Bearer of-the-page', 'idempotency-key': 'key-1' };
    const response = await post('/v1/event', event('x').body, headers);
    expect(await bodyOf(response)).toEqual([200, { success: true, message: 'Event passed on' }]);
    await post('/v1/identify', identify('x', 'u').body);
    const [first, second] = service.got;
    expect(first!.headers).toMatchObject({
      authorization: 'Bearer secret',
      'idempotency-key': 'key-1',
    });
    expect(second!.path).toBe('/v1/identify');
    expect(second!.headers['idempotency-key']).toMatch(/^[\w-]{36}$/);
  });

  it.each([
    [500, 503],
    [401, 502],
    [422, 422],
    [413, 413],
  ])('turn %i of the service into %i', async (theirs, ours) => {
    const { service, post } = setUpRelay();
    service.fails(theirs);
    expect((await post('/v1/event', event('x').body)).status).toBe(ours);
  });
});

describe('other paths and methods', () => {
  it.each([
    ['POST', '/a/v1/other', 404, null],
    ['OPTIONS', '/a/v1/other', 404, null],
    ['GET', '/a/health', 404, null],
    ['GET', '/v1/batch', 405, 'POST, OPTIONS'],
    ['POST', '/a/ready', 405, 'GET, HEAD, OPTIONS'],
  ])('%s %s is %i', async (method, path, status, allow) => {
    const headers = { origin: ORIGIN };
    const request = new Request(`https://shop.example${path}`, { method, headers });
    const response = await setUpRelay().relay(request);
    expect([response.status, response.headers.get('allow')]).toEqual([status, allow]);
  });

  it.each(['/a/live', '/a/ready'])(
    '%s tells anybody that all is well, and no more',
    async (path) => {
      const { relay, batch } = setUpRelay();
      await batch([event('a')]);
      const response = await relay(new Request(`https://shop.example${path}`));
      expect(await bodyOf(response)).toEqual([200, { status: 'ok' }]);
    },
  );

  it('are refused where the address is none, or the list of origins fails', async () => {
    const { relay, metrics } = setUpRelay();
    const headers = new Headers({ origin: ORIGIN });
    const odd = { url: 'http://1.2.3.4.5/a/v1/batch', method: 'POST', headers } as Request;
    expect((await relay(odd)).status).toBe(404);
    expect(metrics).toEqual(['requests 1 none 404']);
    const origins = () => {
      throw new Error('no list');
    };
    const failing = setUpRelay({ origins });
    expect((await failing.batch([event('a')])).status).toBe(500);
    expect(failing.errors).toEqual([{ kind: 'fault', message: 'no list' }]);
  });
});

describe('the health', () => {
  /** What anybody is told, and what the operator is told. */
  const healthOf = async (relay: World['relay']) => {
    const answer = await relay(new Request('https://shop.example/a/ready'));
    const health = await relay.health();
    expect(await answer.json()).toEqual({ status: health.status });
    return [answer.status, health];
  };

  it('takes a page of HTML for no refusal, whatever its status; with 413 for one once others pass', async () => {
    let status = 400;
    const fetch = async (_: unknown, { body }: { body?: unknown } = {}) =>
      `${body as string}`.includes('odd')
        ? new Response('<html>Too large</html>', { status })
        : new Response('{"success":true}');
    const { clock, batch } = setUpRelay({ fetch });
    const outcomeOf = async (name: string) => {
      clock.time += 600_000; // its pause is over
      return (await resultsOf(batch([event(name)])))[0]?.outcome;
    };
    for (status of [400, 409, 413, 422]) expect(await outcomeOf(`odd-${status}`)).toBe('blocked');
    expect(await outcomeOf('another')).toBe('delivered');
    for (status of [400, 409, 422]) expect(await outcomeOf(`odd-${status}`)).toBe('blocked');
    status = 413;
    expect(await outcomeOf('odd-413')).toBe('rejected');
  });

  it('says that a page of HTML came in place of an answer', async () => {
    const fetch = async () => new Response('<html>Log in</html>');
    const { relay, errors, clock, batch } = setUpRelay({ fetch });
    await batch([event('a')]);
    clock.time += 5_000;
    await batch([event('b')]);
    const reason = 'the service answers 200 with a page of HTML';
    expect(await healthOf(relay)).toMatchObject([200, { service: { reason } }]);
    expect(errors[0]?.message).toBe(`${reason}: check \`baseUrl\` and \`token\``);
  });
});

describe('CORS', () => {
  const preflight = async (origin: string) => {
    const init = { method: 'OPTIONS', headers: { origin } };
    const request = new Request('https://relay.example/v1/batch', init);
    const { status, headers } = await setUpRelay().relay(request);
    return [status, Object.fromEntries(headers)];
  };

  it('lets pages of listed origins in, and lets browsers remember it', async () => {
    expect(await preflight(ORIGIN)).toEqual([
      204,
      {
        'access-control-allow-origin': ORIGIN,
        'access-control-allow-methods': 'POST, OPTIONS',
        'access-control-allow-headers':
          'authorization, content-type, content-encoding, idempotency-key, x-called-at',
        'access-control-expose-headers': 'Retry-After',
        'access-control-max-age': '7200',
        vary: 'Origin',
      },
    ]);
  });

  it('keeps others out', async () => {
    const [status, headers] = await preflight('https://evil.example');
    expect(status).toBe(403);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers).toMatchObject({ vary: 'Origin' });
  });

  it('lets errors be read', async () => {
    const { status, headers } = await setUpRelay().post('/v1/batch', 'x');
    expect([status, headers.get('access-control-allow-origin')]).toEqual([400, ORIGIN]);
  });
});

it('refuses who is not authorized', async () => {
  const { service, batch } = setUpRelay({
    authorize: async (request) => request.headers.get('cookie') === 'session=1',
  });
  expect((await batch([event('a')])).status).toBe(403);
  expect((await batch([event('a')], { cookie: 'session=1' })).status).toBe(200);
  expect(service.got).toHaveLength(1);
});

it.each([
  ['null', () => null, 403],
  ['0', () => 0, 403],
  ['a promise of undefined', async () => undefined, 403],
  ['a session', () => ({ user: 'u' }), 200],
  ['a promise of one', async () => ({ reason: 'none' }), 200],
  ['a thenable of null', () => ({ then: (done: (value: null) => void) => done(null) }), 403],
])('takes what `authorize` answers for yes or no, whatever it is: %s', async (_, may, status) => {
  const { batch, errors } = setUpRelay({ authorize: may as never });
  expect((await batch([event('a')])).status).toBe(status);
  expect(errors).toEqual([]);
});

it('asks for the address of a client once, and takes nothing where that fails', async () => {
  const clientAddress = vi.fn((): string => '192.0.2.1');
  const { batch, service, errors } = setUpRelay({ clientAddress });
  expect((await batch([event('a')])).status).toBe(200);
  expect(clientAddress).toHaveBeenCalledTimes(1);
  clientAddress.mockReturnValue(7 as never);
  expect(waitOf(await batch([event('b')]))).toEqual([503, '1']);
  expect(errors).toEqual([{ kind: 'hook', message: '`clientAddress`: must give a string' }]);
  expect(service.names()).toEqual(['a']);
});

describe('the rate limit', () => {
  it.each([{}, { clientAddress: undefined, rateLimit: false as const }])(
    'has a ceiling for all clients together (%j)',
    async (options) => {
      const ceiling = { perSecond: 1, burst: 2 };
      const { clock, metrics, batch, statusFrom } = setUpRelay({ ceiling, ...options });
      expect(await statusFrom('192.0.2.1', event('a'))).toBe(200);
      expect(await statusFrom('192.0.2.2', event('b'))).toBe(200);
      expect(waitOf(await batch([event('c')]))).toEqual([503, '1']);
      expect(metrics).toContain('rate_limited 1 all');
      clock.time += 1_000;
      expect(await statusFrom('192.0.2.3', event('c'))).toBe(200);
    },
  );

  it('reads no body while the ceiling is reached', async () => {
    const { post, batch } = setUpRelay({ ceiling: { perSecond: 1, burst: 1 } });
    expect((await batch([event('a')])).status).toBe(200);
    const pull = vi.fn();
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    expect(waitOf(await post('/v1/batch', body))).toEqual([503, '1']);
    expect(pull).not.toHaveBeenCalled();
  });

  it('takes of the ceiling for what is passed on alone', async () => {
    const rateLimit = { perSecond: 0.001, burst: 60 };
    const { post, statusFrom } = setUpRelay({
      ...{ rateLimit, ceiling: { perSecond: 0.001, burst: 2 } },
    });
    const refused = { ...event('x'), body: { project: 'p', channel: 'other', event: 'x' } };
    for (let n = 0; n < 20; n++) {
      const headers = { 'x-client': `192.0.2.${n}` };
      await post('/v1/batch', `{"sent_at":"","records":[${' '.repeat(200_000)}]}`, headers);
      await statusFrom(`192.0.2.${n}`, refused);
    }
    const from = (id: string) => statusFrom('198.51.100.1', event(id));
    expect([await from('a'), await from('b'), await from('c')]).toEqual([200, 200, 503]);
  });

  it('counts an IPv6 network as well, as sixteen clients, and says which limit it was', async () => {
    const { metrics, statusFrom } = setUpRelay({ rateLimit: { perSecond: 0.001, burst: 1 } });
    const from = (ip: string) => statusFrom(ip, event(ip.replaceAll(':', '-')));
    const statuses = [];
    for (let n = 1; n <= 18; n++) statuses.push(await from(`2001:db8:1:${n}::1`));
    expect(statuses).toEqual([...Array(16).fill(200), 429, 429]);
    expect(await from('2001:db8:2:1::1')).toBe(200);
    expect(await from('2001:db8:2:1::2')).toBe(429);
    expect(metrics.filter((line) => line.startsWith('rate'))).toEqual([
      'rate_limited 1 network',
      'rate_limited 1 network',
      'rate_limited 1 client',
    ]);
  });

  it('can be a function', async () => {
    const asked: unknown[] = [];
    const { batch } = setUpRelay({
      rateLimit: async (client, records) => {
        asked.push([client, records]);
        return records > 1 ? 5_000 : 0;
      },
    });
    expect((await batch([event('a')])).status).toBe(200);
    expect(waitOf(await batch([event('b'), event('c')]))).toEqual([429, '5']);
    expect(asked).toEqual([0, 1, 0, 2].map((records) => ['192.0.2.1', records]));
  });
});

it.each([undefined, '192.0.2.0'])(
  'passes on no header of the client, and of the address what it is told to: %s',
  async (address) => {
    const clientAddress = () => '192.0.2.77';
    const { service, batch } = setUpRelay({ clientAddress, forwardAddress: !!address });
    const theirs = ['cookie', 'authorization', 'x-forwarded-for', 'referer', 'user-agent'];
    const headers = Object.fromEntries(theirs.map((name) => [name, 'their-own']));
    expect((await batch([event('a')], headers)).status).toBe(200);
    expect(JSON.stringify(service.got[0]!.headers)).not.toContain('their-own');
    expect(service.got[0]!.headers['x-forwarded-for']).toBe(address);
  },
);

it('reads no body while the service is not to be asked: 503', async () => {
  const { service, batch, relay } = setUpRelay();
  service.fails(429, { headers: { 'retry-after': '60' } });
  await batch([event('a')]);
  const pull = vi.fn();
  const init = {
    ...{ method: 'POST', headers: { origin: ORIGIN, 'content-type': 'application/json' } },
    ...{ body: new ReadableStream({ pull }, { highWaterMark: 0 }), duplex: 'half' },
  };
  const refused = await relay(new Request('https://shop.example/a/v1/batch', init));
  expect(waitOf(refused)).toEqual([503, '75']);
  expect(pull).not.toHaveBeenCalled();
});
