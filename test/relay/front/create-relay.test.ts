import { describe, expect, it } from 'vitest';
import { createRelay } from '../../../src/relay/front/create-relay.js';
import type { RelayError } from '../../../src/relay/hooks.js';
import type { QueuedRecord } from '../../../src/relay/queue/ports.js';
import { createSeenMemory } from '../../../src/relay/delivery/seen-memory.js';
import type { RelayOptions } from '../../../src/relay/front/relay-options.js';
import type { BatchAnswer, BatchRecord } from '../../../src/interface/wire.js';
import { createFakeService } from '../helpers/fake-service.js';
import { event, identify } from '../helpers/records.js';
import { createMemoryQueue } from '../queue/memory-queue.js';

const ORIGIN = 'https://shop.example';

const setUp = (options: Partial<RelayOptions> = {}, { hold = false } = {}) => {
  const service = createFakeService({ hold });
  const errors: RelayError[] = [];
  const metrics: string[] = [];
  const clock = { time: 1_000_000 };
  const relay = createRelay({
    baseUrl: 'https://in.example.com',
    token: 'secret',
    origins: [ORIGIN, 'https://www.shop.example'],
    projects: ['p'],
    channels: ['c'],
    clientAddress: () => '192.0.2.1',
    fetch: service.fetch,
    now: () => clock.time,
    random: () => 0.5,
    onError: (error) => errors.push(error),
    onMetric: (name, value, labels = {}) =>
      metrics.push([name, value, ...Object.values(labels)].join(' ')),
    ...options,
  });
  const send = (path: string, body: unknown, headers: Record<string, string | null> = {}) => {
    const all = { origin: ORIGIN, 'content-type': 'application/json', ...headers };
    return relay(
      new Request(`https://shop.example/a${path}`, {
        method: 'POST',
        headers: Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null),
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  };
  const batch = (records: readonly BatchRecord[], headers?: Record<string, string | null>) =>
    send('/v1/batch', { sent_at: '2026-01-01T00:00:00.000Z', records }, headers);
  const outcomes = async (response: Response) => {
    const { results } = (await response.json()) as BatchAnswer;
    return results.map(({ id, outcome, status }) => [id, outcome, status]);
  };
  return { relay, service, errors, metrics, clock, send, batch, outcomes };
};

const bodyOf = async (response: Response) => [response.status, await response.json()];

describe('a batch', () => {
  it.each(['application/json', 'text/plain;charset=UTF-8'])('is passed on as %s', async (type) => {
    const { service, metrics, batch } = setUp();
    const response = await batch([identify('i', 'u'), event('e', 'e', 'u')], {
      'content-type': type,
    });
    expect(await bodyOf(response)).toEqual([
      200,
      {
        results: [
          { id: 'i', outcome: 'delivered', status: 200 },
          { id: 'e', outcome: 'delivered', status: 200 },
        ],
      },
    ]);
    expect(service.names()).toEqual(['identify u', 'e']);
    expect(metrics).toEqual([
      'upstream_ms 0 200',
      'upstream_ms 0 200',
      'records 1 in delivered',
      'records 1 in delivered',
      'requests 1 batch 200',
    ]);
  });

  it('goes on beside a record that is wrong or not allowed', async () => {
    const { service, batch, outcomes } = setUp();
    const wrong = { ...event('wrong'), body: { project: 'p', channel: 'c', event: 1 } };
    const project = { ...event('project'), body: { project: 'q', channel: 'c', event: 'e' } };
    const channel = { ...event('channel'), body: { project: 'p', channel: 'd', event: 'e' } };
    const response = await batch([wrong, event('a'), project, channel, event('b')]);
    expect(await outcomes(response)).toEqual([
      ['wrong', 'rejected', 400],
      ['a', 'delivered', 200],
      ['project', 'blocked', 403],
      ['channel', 'blocked', 403],
      ['b', 'delivered', 200],
    ]);
    expect(service.names()).toEqual(['a', 'b']);
  });

  it('is passed on without fields that the interface does not know', async () => {
    const { service, batch } = setUp();
    await batch([{ ...event('e'), body: { ...event('e').body, admin: true, tags: { any: 1 } } }]);
    expect(service.got[0]!.body).toEqual({
      project: 'p',
      channel: 'c',
      event: 'e',
      tags: { any: 1 },
    });
  });

  it('may be empty', async () => {
    const { batch } = setUp();
    expect(await bodyOf(await batch([]))).toEqual([200, { results: [] }]);
  });

  it('is answered at once while the service is left alone', async () => {
    const { service, clock, batch } = setUp();
    service.when(({ answer }) => {
      const isFirst = service.got.length === 1;
      if (isFirst) answer(503, {}, { 'retry-after': '60' });
      return isFirst;
    });
    const first = (await (await batch([event('a')])).json()) as BatchAnswer;
    expect(first.results[0]).toMatchObject({ outcome: 'retry', status: 503, retry_after: 75 });
    const second = await batch([event('b')]);
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '75']);
    expect(service.got).toHaveLength(1);
    clock.time += 75_000;
    expect((await batch([event('b')])).status).toBe(200);
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
    const { errors, metrics, clock, service, batch } = setUp();
    const records = [toChannel('a', 'growth'), toChannel('b', 'growth'), toProject('i', 'blog')];
    const blocked = { outcome: 'blocked', status: 403 };
    for (let repeat = 0; repeat < 3; repeat++) {
      expect(await bodyOf(await batch(records))).toEqual([
        200,
        {
          results: [
            { id: 'a', ...blocked, unlisted: 'channel' },
            { id: 'b', ...blocked, unlisted: 'channel' },
            { id: 'i', ...blocked, unlisted: 'project' },
          ],
        },
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
    const { errors, batch } = setUp({
      clientAddress: (request) => request.headers.get('x-real-ip') ?? undefined,
      rateLimit: false,
    });
    const invent = (ip: string) =>
      batch(
        Array.from({ length: 100 }, (_, i) => toChannel(`${ip}-${i}`, `${ip} ${i}`)).map(
          (record) => ({ ...record, id: record.id.replaceAll('.', '_') }),
        ),
        { 'x-real-ip': ip },
      );
    await invent('192.0.2.1');
    expect(errors).toHaveLength(5);
    await batch([toChannel('a', 'growth')], { 'x-real-ip': '192.0.2.2' });
    expect(errors.at(-1)!.message).toBe('channel "growth" is not in the list `channels`');
    for (let i = 3; i < 40; i++) await invent(`192.0.2.${i}`);
    expect(errors).toHaveLength(100);
    expect(errors.at(-1)!.message).toMatch(/; no other value is named today$/);
  });

  it('deceives nobody who reads a log, and is cut', async () => {
    const { errors, batch } = setUp();
    const odd = '\n\u001b[31m\u009b\u202e\u2028"\ud800' + 'x'.repeat(100_000);
    await batch([toChannel('a', odd)]);
    expect(errors.map(({ message }) => message)).toEqual([
      `channel "\ufffd\ufffd[31m\ufffd\ufffd\ufffd\\"\ufffd${'x'.repeat(64 - 11)}" is not in the list \`channels\``,
    ]);
  });

  it.each([
    ['channel', '/v1/event', toChannel('a', 'growth')],
    ['project', '/v1/identify', toProject('a', 'blog')],
  ])('(%s) is answered 403 at %s', async (field, path, { body }) => {
    const { errors, service, send } = setUp();
    const response = await send(path, body, { 'idempotency-key': 'k' });
    const message = `The relay does not list this ${field}`;
    expect(await bodyOf(response)).toEqual([403, { code: 403, message }]);
    expect(errors).toMatchObject([{ kind: 'unlisted' }]);
    expect(service.got).toEqual([]);
  });

  it('is passed on once the list has it', async () => {
    const seen = createSeenMemory();
    const before = setUp({ seen });
    await before.batch([toChannel('a', 'growth')]);
    const after = setUp({ seen, channels: ['c', 'growth'] });
    const response = await after.batch([toChannel('a', 'growth')]);
    expect(await after.outcomes(response)).toEqual([['a', 'delivered', 200]]);
    expect(after.service.got).toHaveLength(1);
  });
});

describe('the two single operations', () => {
  it('answer as the service does', async () => {
    const { service, send } = setUp();
    const headers = { authorization: 'Bearer of-the-page', 'idempotency-key': 'key-1' };
    const response = await send('/v1/event', event('x').body, headers);
    expect(await bodyOf(response)).toEqual([200, { success: true, message: 'Passed on' }]);
    expect(service.got[0]!.headers).toMatchObject({
      authorization: 'Bearer secret',
      'idempotency-key': 'key-1',
    });
    await send('/v1/identify', identify('x', 'u').body);
    expect(service.got[1]!.path).toBe('/v1/identify');
    expect(service.got[1]!.headers['idempotency-key']).toMatch(/^[\w-]{36}$/);
  });

  it.each([
    ['not JSON', '{', 400],
    ['a missing field', '{"project":"p","channel":"c"}', 400],
    ['another project', '{"project":"q","channel":"c","event":"e"}', 403],
  ])('refuse %s', async (_, body, status) => {
    const { service, send } = setUp();
    const response = await send('/v1/event', body);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ code: status, message: expect.any(String) as string });
    expect(service.got).toEqual([]);
  });

  it.each([
    [500, 503],
    [401, 502],
    [422, 400],
    [413, 413],
  ])('turn %i of the service into %i', async (theirs, ours) => {
    const { service, send } = setUp();
    service.when(({ answer }) => {
      answer(theirs, {});
      return true;
    });
    expect((await send('/v1/event', event('x').body)).status).toBe(ours);
  });
});

describe('other paths and methods', () => {
  const ask = (relay: ReturnType<typeof setUp>['relay'], method: string, path: string) =>
    relay(new Request(`https://shop.example${path}`, { method, headers: { origin: ORIGIN } }));

  it('answer 404 and 405', async () => {
    const { relay } = setUp();
    expect((await ask(relay, 'POST', '/a/v1/other')).status).toBe(404);
    expect((await ask(relay, 'OPTIONS', '/a/v1/other')).status).toBe(404);
    const get = await ask(relay, 'GET', '/v1/batch');
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    const post = await ask(relay, 'POST', '/a/ready');
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it.each(['/a/live', '/a/ready'])(
    'tell anybody at %s that all is well, and no more',
    async (path) => {
      const { relay, batch } = setUp();
      await batch([event('a')]);
      const response = await relay(new Request(`https://shop.example${path}`));
      expect(await bodyOf(response)).toEqual([200, { status: 'ok' }]);
      expect((await ask(relay, 'GET', '/a/health')).status).toBe(404);
    },
  );

  it('are refused where the address is none, or the list of origins fails', async () => {
    const { relay, metrics } = setUp();
    const headers = new Headers({ origin: ORIGIN });
    const odd = { url: 'http://1.2.3.4.5/a/v1/batch', method: 'POST', headers } as Request;
    expect((await relay(odd)).status).toBe(404);
    expect(metrics).toEqual(['requests 1 none 404']);
    const failing = setUp({
      origins: () => {
        throw new Error('no list');
      },
    });
    expect((await failing.batch([event('a')])).status).toBe(500);
    expect(failing.errors).toEqual([{ kind: 'relay', message: 'no list' }]);
  });
});

describe('the health', () => {
  /** What anybody is told, and what the operator is told. */
  const healthOf = async (relay: ReturnType<typeof setUp>['relay']) => {
    const answer = await relay(new Request('https://shop.example/a/ready'));
    const health = relay.health();
    expect(await answer.json()).toEqual({ status: health.status });
    return [answer.status, health];
  };
  const iso = (time: number) => new Date(time).toISOString();

  it('says since when the service fails, why, until when the relay waits, and what went well', async () => {
    const { relay, service, clock, batch } = setUp();
    let isDown = false;
    service.when(({ answer }) => {
      if (isDown) answer(429);
      return isDown;
    });
    await batch([event('a')]);
    expect(await healthOf(relay)).toEqual([
      200,
      { status: 'ok', service: { status: 'ok', last_success: iso(1_000_000) } },
    ]);
    isDown = true;
    clock.time += 5_000;
    await batch([event('b')]);
    expect(await healthOf(relay)).toEqual([
      200,
      {
        status: 'ok',
        service: {
          status: 'failing',
          reason: 'the service answers 429',
          since: iso(1_005_000),
          paused_until: iso(1_005_750),
          last_success: iso(1_000_000),
        },
      },
    ]);
  });

  it('says that one client has records which the service refuses to take, while it takes others', async () => {
    const { relay, service, clock, batch } = setUp();
    service.when(({ body, answer }) => {
      if (body['event'] === 'bad') answer(500);
      return body['event'] === 'bad';
    });
    await batch([event('a')]);
    clock.time += 5_000;
    await batch([event('bad')]);
    expect(await healthOf(relay)).toEqual([
      200,
      {
        status: 'ok',
        service: {
          ...{ status: 'ok', last_success: iso(1_000_000) },
          refusing: {
            ...{ whose: 'one client', records: 1, reason: 'the service answers 500' },
            since: iso(1_005_000),
          },
        },
      },
    ]);
  });

  it('takes a page of HTML for no refusal, whatever its status; with 413 for one once others pass', async () => {
    let status = 400;
    const fetch = async (_: unknown, { body }: { body?: unknown } = {}) =>
      `${body as string}`.includes('odd')
        ? new Response('<html>Too large</html>', { status })
        : new Response('{"success":true}');
    const { clock, batch } = setUp({ fetch });
    const outcomeOf = async (name: string) => {
      clock.time += 600_000; // its pause is over
      const { results } = (await (await batch([event(name)])).json()) as BatchAnswer;
      return results[0]?.outcome;
    };
    for (status of [400, 409, 413, 422]) expect(await outcomeOf(`odd-${status}`)).toBe('blocked');
    expect(await outcomeOf('another')).toBe('delivered');
    for (status of [400, 409, 422]) expect(await outcomeOf(`odd-${status}`)).toBe('blocked');
    status = 413;
    expect(await outcomeOf('odd-413')).toBe('rejected');
  });

  it('says that a page of HTML came in place of an answer', async () => {
    const fetch = async () => new Response('<html>Log in</html>');
    const { relay, errors, clock, batch } = setUp({ fetch });
    await batch([event('a')]);
    clock.time += 5_000;
    await batch([event('b')]);
    const reason = 'the service answers 200 with a page of HTML';
    expect(await healthOf(relay)).toMatchObject([200, { service: { reason } }]);
    expect(errors[0]?.message).toBe(`${reason}: check \`baseUrl\` and \`token\``);
  });

  it('is 503 where the queue takes no records, and says why', async () => {
    let isDown = true;
    const put = async () => {
      if (isDown) throw new Error('disk is full');
    };
    const { relay, batch } = setUp({ queue: { put } });
    await batch([event('a')]);
    const [status, body] = await healthOf(relay);
    expect([status, body]).toMatchObject([503, { status: 'failing', problem: 'disk is full' }]);
    isDown = false;
    await batch([event('a')]);
    expect((await healthOf(relay))[0]).toBe(200);
  });

  it('is 503 where the queue does not answer at all, or the ids that are known cannot be read', async () => {
    const never = new Promise<never>(() => {});
    const silent = setUp({
      deadline: 10,
      queue: { put: () => ((silent.clock.time += 15_000), never) },
    });
    await silent.batch([event('a')]);
    expect(await healthOf(silent.relay)).toMatchObject([503, { problem: 'no answer in time' }]);

    let isDown = true;
    const memory = createSeenMemory();
    const begin: typeof memory.begin = (...args) =>
      isDown ? Promise.reject(new Error('gone')) : memory.begin(...args);
    const forgetful = setUp({ queue: { put: async () => {} }, seen: { ...memory, begin } });
    await forgetful.batch([event('a')]);
    const problem = 'the ids of known records cannot be read';
    expect(await healthOf(forgetful.relay)).toMatchObject([503, { problem }]);
    isDown = false;
    await forgetful.batch([event('a')]);
    expect((await healthOf(forgetful.relay))[0]).toBe(200);
  });

  it('says what the consumer of this process knows', async () => {
    const health = {
      isReading: true,
      service: { status: 'failing', reason: 'the service does not answer' } as const,
      queue: { waiting: 12, dead: 1, oldest: 970_000 },
    };
    const { relay } = setUp({ queue: { put: async () => {} }, consumer: { health: () => health } });
    expect(await healthOf(relay)).toMatchObject([
      200,
      {
        service: { status: 'failing', reason: 'the service does not answer' },
        queue: { waiting: 12, dead: 1, oldest_s: 30 },
      },
    ]);
    health.isReading = false;
    expect((await healthOf(relay))[0]).toBe(503);
  });
});

describe('CORS', () => {
  const preflight = (relay: ReturnType<typeof setUp>['relay'], origin: string) =>
    relay(
      new Request('https://relay.example/v1/batch', { method: 'OPTIONS', headers: { origin } }),
    );

  it('lets pages of listed origins in, and lets browsers remember it', async () => {
    const { relay } = setUp();
    const { status, headers } = await preflight(relay, ORIGIN);
    expect([status, Object.fromEntries(headers)]).toEqual([
      204,
      {
        'access-control-allow-origin': ORIGIN,
        'access-control-allow-methods': 'POST, OPTIONS',
        'access-control-allow-headers':
          'content-type, content-encoding, authorization, idempotency-key',
        'access-control-expose-headers': 'Retry-After',
        'access-control-max-age': '7200',
        vary: 'Origin',
      },
    ]);
  });

  it('keeps others out', async () => {
    const { relay } = setUp();
    const { status, headers } = await preflight(relay, 'https://evil.example');
    expect([status, headers.get('access-control-allow-origin')]).toEqual([403, null]);
    expect(headers.get('vary')).toBe('Origin');
  });

  it('lets errors be read', async () => {
    const { send } = setUp();
    const response = await send('/v1/batch', 'x');
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
      400,
      ORIGIN,
    ]);
  });
});

describe('hooks', () => {
  it('refuse who is not authorized, before the body is read', async () => {
    const { service, batch } = setUp({
      authorize: async (request) => request.headers.get('cookie') === 'session=1',
    });
    expect((await batch([event('a')])).status).toBe(403);
    expect((await batch([event('a')], { cookie: 'session=1' })).status).toBe(200);
    expect(service.got[0]!.headers).not.toHaveProperty('cookie');
  });

  it('keep records when they fail', async () => {
    const { service, errors, batch } = setUp({
      authorize: () => Promise.reject(new Error('database is down')),
    });
    const response = await batch([event('a')]);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(errors).toEqual([{ kind: 'hook', message: '`authorize`: database is down' }]);
    expect(service.got).toEqual([]);
  });

  it('cost nothing when they throw at news', async () => {
    const { batch } = setUp({
      onMetric: () => {
        throw new Error('no');
      },
      onError: () => {
        throw new Error('no');
      },
    });
    expect((await batch([event('a')])).status).toBe(200);
  });
});

describe('the rate limit', () => {
  it('counts records of each client', async () => {
    const { clock, service, batch } = setUp({
      clientAddress: (request) => request.headers.get('x-real-ip') ?? undefined,
      rateLimit: { perSecond: 1, burst: 2 },
    });
    const from = (id: string, ip: string) =>
      batch([event(`${id}1`), event(`${id}2`)], { 'x-real-ip': ip });
    expect((await from('a', '192.0.2.1')).status).toBe(200);
    const refused = await from('b', '192.0.2.1');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await from('c', '192.0.2.2')).status).toBe(200);
    clock.time += 1_000;
    expect((await from('b', '192.0.2.1')).status).toBe(200);
    expect(service.got).toHaveLength(6);
  });

  it('counts the addresses of one IPv6 network as one client', async () => {
    const { service, batch } = setUp({
      clientAddress: (request) => request.headers.get('x-real-ip') ?? undefined,
      rateLimit: { perSecond: 1, burst: 2 },
    });
    const from = async (id: string, ip: string) =>
      (await batch([event(`${id}1`), event(`${id}2`)], { 'x-real-ip': ip })).status;
    expect(await from('a', '2001:db8:0:1::1')).toBe(200);
    expect(await from('b', '2001:db8:0:1:8000::2')).toBe(429);
    expect(await from('c', '2001:db8:0:2::1')).toBe(200);
    expect(service.got).toHaveLength(4);
  });

  it('says in words that an address is none', async () => {
    const { errors, service, batch } = setUp({
      clientAddress: (() => ['192.0.2.1']) as unknown as () => string,
    });
    expect((await batch([event('a')])).status).toBe(503);
    expect(errors[0]).toEqual({
      kind: 'hook',
      message: '`rateLimit`: `clientAddress` must give a string',
    });
    expect(service.got).toEqual([]);
  });

  it.each([{}, { clientAddress: undefined, rateLimit: false as const }])(
    'has a ceiling for all clients together (%j)',
    async (options) => {
      const { clock, service, metrics, batch } = setUp({
        clientAddress: (request) => request.headers.get('x-real-ip') ?? undefined,
        ceiling: { perSecond: 1, burst: 2 },
        ...options,
      });
      const from = (id: string, ip: string) => batch([event(id)], { 'x-real-ip': ip });
      expect((await from('a', '192.0.2.1')).status).toBe(200);
      expect((await from('b', '192.0.2.2')).status).toBe(200);
      const refused = await from('c', '192.0.2.3');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(metrics).toContain('rate_limited 1 all');
      clock.time += 1_000;
      expect((await from('c', '192.0.2.3')).status).toBe(200);
      expect(service.got).toHaveLength(3);
    },
  );

  it('takes nothing of the ceiling for what a client may not send', async () => {
    const { service, batch } = setUp({
      clientAddress: (request) => request.headers.get('x-real-ip') ?? undefined,
      rateLimit: { perSecond: 0.001, burst: 1 },
      ceiling: { perSecond: 0.001, burst: 2 },
    });
    const from = async (id: string, ip: string) =>
      (await batch([event(id)], { 'x-real-ip': ip })).status;
    const statuses = [];
    for (const id of ['a', 'b', 'c', 'd']) statuses.push(await from(id, '192.0.2.1'));
    expect(statuses).toEqual([200, 429, 429, 429]);
    expect(await from('e', '192.0.2.2')).toBe(200);
    expect(service.got).toHaveLength(2);
  });

  it('counts an IPv6 network as well, as four clients, and says which limit it was', async () => {
    const { service, metrics, batch } = setUp({
      clientAddress: (request) => request.headers.get('x-real-ip') ?? undefined,
      rateLimit: { perSecond: 0.001, burst: 1 },
    });
    const from = async (ip: string) =>
      (await batch([event(ip.replaceAll(':', '-'))], { 'x-real-ip': ip })).status;
    const statuses = [];
    for (let n = 1; n <= 6; n++) statuses.push(await from(`2001:db8:1:${n}::1`));
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
    expect(await from('2001:db8:2:1::1')).toBe(200);
    expect(await from('2001:db8:2:1::2')).toBe(429);
    expect(metrics.filter((line) => line.startsWith('rate'))).toEqual([
      'rate_limited 1 network',
      'rate_limited 1 network',
      'rate_limited 1 client',
    ]);
    expect(service.got).toHaveLength(5);
  });

  it('takes nothing of the ceiling for bytes, values, or records that are refused', async () => {
    const { service, send, batch } = setUp({
      clientAddress: (request) => request.headers.get('x-real-ip') ?? undefined,
      ceiling: { perSecond: 0.001, burst: 2 },
    });
    const refused = [{ ...event('x'), body: { project: 'p', channel: 'other', event: 'x' } }];
    for (let n = 0; n < 20; n++) {
      const headers = { 'x-real-ip': `192.0.2.${n}` };
      await send('/v1/batch', `{"sent_at":"","records":[${' '.repeat(200_000)}]}`, headers);
      await batch(refused, headers);
    }
    const from = async (id: string) =>
      (await batch([event(id)], { 'x-real-ip': '198.51.100.1' })).status;
    expect([await from('a'), await from('b'), await from('c')]).toEqual([200, 200, 503]);
    expect(service.got).toHaveLength(2);
  });

  it('can be a function', async () => {
    const asked: unknown[] = [];
    const { batch } = setUp({
      rateLimit: async (client, records) => {
        asked.push([client, records]);
        return records > 1 ? 5_000 : 0;
      },
    });
    expect((await batch([event('a')])).status).toBe(200);
    const refused = await batch([event('b'), event('c')]);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(asked).toEqual([0, 1, 0, 2].map((records) => ['192.0.2.1', records]));
  });
});

describe('the address of the client', () => {
  const ask = async (options: Partial<RelayOptions>) => {
    const { service, batch } = setUp({ clientAddress: () => '192.0.2.77', ...options });
    await batch([event('a')], { 'x-forwarded-for': '198.51.100.1' });
    return service.got[0]!.headers['x-forwarded-for'];
  };

  it('is not passed on', async () => {
    expect(await ask({})).toBeUndefined();
  });

  it('is passed on in part where that is wanted', async () => {
    expect(await ask({ forwardAddress: true })).toBe('192.0.2.0');
  });
});

describe('records that wait for the service', () => {
  it('are no more than may be: 503 before the body is read, and `retry` beyond', async () => {
    const options = { maxPending: 5, concurrency: 2 };
    const { service, batch, outcomes, relay } = setUp(options, { hold: true });
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const first = batch(ids.map((id) => event(id)));
    await service.arrived(2);
    let isRead = false;
    const body = new ReadableStream(
      {
        pull: () => {
          isRead = true;
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { origin: ORIGIN, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const refused = await relay(new Request('https://shop.example/a/v1/batch', init));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect(isRead).toBe(false);
    for (let count = 1; count <= 5; count++) {
      await service.arrived(count);
      service.got[count - 1]!.answer();
    }
    const answered = await first;
    const { results } = (await answered.clone().json()) as BatchAnswer;
    expect(results.slice(5)).toEqual(
      ['f', 'g'].map((id) => ({ id, outcome: 'retry', status: 0, retry_after: 2 })),
    );
    expect((await outcomes(answered)).slice(0, 5)).toEqual(
      ids.slice(0, 5).map((id) => [id, 'delivered', 200]),
    );
    // There is room again, and those that found none were not claimed.
    const again = batch([event('f'), event('g')]);
    await service.arrived(7);
    service.got.slice(5).forEach(({ answer }) => answer());
    expect(await outcomes(await again)).toEqual([
      ['f', 'delivered', 200],
      ['g', 'delivered', 200],
    ]);
  });
});

describe('with a queue', () => {
  const createQueue = () => {
    const puts: QueuedRecord[][] = [];
    const state = { isDown: false };
    const queue = {
      put: async (records: readonly QueuedRecord[]) => {
        if (state.isDown) throw new Error('disk is full');
        puts.push([...records]);
      },
    };
    return { queue, puts, state };
  };

  it('accepts what is durable, once', async () => {
    const { queue, puts } = createQueue();
    const { service, clock, batch, outcomes } = setUp({ queue });
    const accepted = [
      ['i', 'accepted', 0],
      ['e', 'accepted', 0],
    ];
    const records = [identify('i', 'u'), event('e')];
    const both = await Promise.all([batch(records), batch(records)]);
    for (const response of both) expect(await outcomes(response)).toEqual(accepted);
    expect(await outcomes(await batch(records))).toEqual(accepted);
    // Who sent them stands with them, as a word that holds no address.
    const client = expect.stringMatching(/^[0-9a-f]{12}$/) as string;
    expect(puts).toEqual([records.map((record) => ({ ...record, at: clock.time, client }))]);
    expect(service.got).toEqual([]);
  });

  it('says 503 when it is not, and takes it later', async () => {
    const { queue, puts, state } = createQueue();
    const { errors, batch, outcomes } = setUp({ queue });
    state.isDown = true;
    const response = await batch([event('e')]);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    expect(errors).toEqual([{ kind: 'queue', message: 'disk is full' }]);
    state.isDown = false;
    expect(await outcomes(await batch([event('e')]))).toEqual([['e', 'accepted', 0]]);
    expect(puts).toHaveLength(1);
  });

  it('says 503 for longer when it is full, and tells of it once until it has room', async () => {
    const queue = createMemoryQueue(Date.now, { maxWaiting: 2 });
    const { errors, batch, outcomes } = setUp({ queue });
    const accepted = (id: string) => [[id, 'accepted', 0]];
    expect(await outcomes(await batch([event('a')]))).toEqual(accepted('a'));
    expect(await outcomes(await batch([event('b')]))).toEqual(accepted('b'));
    for (const id of ['c', 'd', 'c']) {
      const response = await batch([event(id)]);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30']);
    }
    const message = 'the queue is full: `maxWaiting` is 2 records of up to a KiB each';
    const full = { kind: 'queue', message };
    expect(errors).toEqual([full]);
    // What waits already is known, and not put again.
    expect(await outcomes(await batch([event('a')]))).toEqual(accepted('a'));
    await queue.done(await queue.take(1, 1_000));
    expect(await outcomes(await batch([event('c')]))).toEqual(accepted('c'));
    expect((await batch([event('d')])).status).toBe(503);
    expect(errors).toEqual([full, full]);
  });

  it('queues the others while another process puts a record', async () => {
    const { queue, puts } = createQueue();
    const seen = createSeenMemory();
    await seen.begin(['event:a:p', 'event:c:p'], 60_000);
    const { batch, outcomes } = setUp({ queue, seen });
    expect(await outcomes(await batch([event('a'), event('b')]))).toEqual([
      ['a', 'retry', 409],
      ['b', 'accepted', 0],
    ]);
    expect(puts).toMatchObject([[{ id: 'b' }]]);
    // No 503, which would keep everything back.
    const alone = await batch([event('c')]);
    expect(await bodyOf(alone)).toEqual([
      200,
      { results: [{ id: 'c', outcome: 'retry', status: 409 }] },
    ]);
  });

  it('does not queue what is not allowed', async () => {
    const { queue, puts } = createQueue();
    const { batch, outcomes } = setUp({ queue, projects: ['other'] });
    expect(await outcomes(await batch([event('e')]))).toEqual([['e', 'blocked', 403]]);
    expect(puts).toEqual([]);
  });
});
