import { describe, expect, it } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/server/http/body.js';
import { event, identify, runService, streamOf } from './support/run-service.js';

describe('POST /v1/event', () => {
  it('stores every field as it was given', async () => {
    const service = runService();
    const full = {
      project: 'shop',
      channel: 'checkout',
      event: 'Order "placed" 😀 \u0000 \\',
      description: 'First order',
      icon: '🛒',
      notify: true,
      tags: { total: 42.5, nested: { list: [1, null, 'x'] }, 'a b': false, '': '' },
      user_id: 'user-1',
      timestamp: '2026-01-31T23:59:59.123456+05:30',
    };
    const response = await service.post('/v1/event', full);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ success: true, message: 'Event stored' });
    const { project, channel, event, user_id } = full;
    const name = event.replace('\u0000', '\ufffd');
    expect(await service.rows()).toEqual([
      {
        ...{ seq: 1, id: expect.any(String), type: 'event', arrivals: 1 },
        ...{ project, channel, event: name, user_id, body: { ...full, event: name } },
        ...{ called_at: '2026-01-31T18:29:59.123Z', received_at: expect.any(String) },
        from_server: true,
      },
    ]);
  });

  it('fills in the defaults that the interface names', async () => {
    const service = runService();
    const before = new Date().toISOString();
    await service.post('/v1/event', event);
    const [row] = await service.rows();
    expect(row!.body).toEqual({ ...event, notify: false, tags: {}, timestamp: row!.received_at });
    expect(row).not.toHaveProperty('user_id');
    expect(row!.called_at).toBe(row!.received_at);
    expect(row!.received_at >= before && row!.received_at <= new Date().toISOString()).toBe(true);
  });

  it('keeps a key named __proto__ and ignores an unknown field', async () => {
    const service = runService();
    const tags = '{"__proto__":{"a":1},"constructor":2}';
    const text = JSON.stringify({ ...event, x: 1 }).replace('}', `,"tags":${tags}}`);
    await service.post('/v1/event', text);
    const [row] = await service.rows();
    expect(JSON.stringify((row!.body as { tags: object }).tags)).toBe(tags);
    expect(row!.body).not.toHaveProperty('x');
  });
});

describe('POST /v1/identify', () => {
  it('creates a profile', async () => {
    const service = runService();
    const properties = { name: 'Ada', age: 36, plan: { tier: 'pro' } };
    const response = await service.post('/v1/identify', { ...identify, properties });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ success: true, message: 'Profile stored' });
    const [profile, ...others] = await service.profiles();
    expect(others).toEqual([]);
    const { created_at } = profile!;
    expect(profile).toEqual({
      ...{ project: 'p', user_id: 'u', properties, created_at, updated_at: created_at },
      set_at: { name: created_at, age: created_at, plan: created_at },
    });
  });
});

type Sent = [what: string, body: unknown, headers: Record<string, string>];

describe.each([
  ['/v1/event', event],
  ['/v1/identify', identify],
])('both operations: %s', (path, body) => {
  const text = JSON.stringify(body);

  it.each<Sent>([
    ['of the greatest size', text.padEnd(MAX_BODY_BYTES), {}],
    ['in chunks', streamOf([text.slice(0, 9), text.slice(9)]), {}],
    ...[
      'APPLICATION/JSON',
      'application/json;charset=utf-8',
      'application/json; charset="UTF-8"',
    ].map((type): Sent => [`as ${type}`, text, { 'content-type': type }]),
    ['with a token in lower case', text, { authorization: 'bearer test-token' }],
  ])('takes a body %s', async (_, sent, headers) => {
    const service = runService();
    expect((await service.post(path, sent, headers)).status).toBe(200);
    expect(await service.rows()).toHaveLength(1);
  });

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])('answers 405 to %s', async (method) => {
    const response = await runService().send(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST, OPTIONS');
    if (method === 'HEAD') return;
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual({ code: 405, message: 'Method not allowed' });
  });
});

it.each([
  ...['/', '/v1', '/v1/', '/v1/event/', '/v1/events', '/v2/event', '/_/nothing', '/favicon.ico'],
])('answers 404 at %s', async (path) => {
  const service = runService();
  for (const response of [await service.send(path), await service.post(path, event)]) {
    expect(response.status).toBe(404);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual({ code: 404, message: 'Not found' });
  }
});

describe('Idempotency-Key', () => {
  const key = { 'idempotency-key': 'key-1' };

  it('is the id of the record, so that a repeat gets the first answer and is not stored', async () => {
    const service = runService();
    const first = await service.post('/v1/event', { ...event, event: 'first' }, key);
    const second = await service.post('/v1/event', { ...event, event: 'second' }, key);
    expect(second.status).toBe(first.status);
    expect(await second.text()).toBe(await first.text());
    expect(await service.rows()).toMatchObject([{ event: 'first', id: 'key-1', arrivals: 2 }]);
  });

  it('is none where it is empty', async () => {
    const service = runService();
    for (const empty of [{}, { 'idempotency-key': '' }, {}])
      await service.post('/v1/event', event, empty);
    expect(await service.rows()).toHaveLength(3);
  });

  it('is free again after a request that was refused', async () => {
    const service = runService();
    expect((await service.post('/v1/event', {}, key)).status).toBe(400);
    const stranger = await service.post('/v1/event', event, { ...key, authorization: null });
    expect(stranger.status).toBe(401);
    expect((await service.post('/v1/event', event, key)).status).toBe(200);
    expect(await service.rows()).toHaveLength(1);
  });
});
