import { describe, expect, test } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/service/operations.js';
import type { Profile } from '../../src/service.js';
import { badEvents, badIdentifies } from '../interface/bad-bodies.js';
import { event, identify, runService } from './support/run-service.js';

const profilesOf = async (service: ReturnType<typeof runService>) =>
  (await service.json<{ profiles: Profile[] }>('/profiles')).profiles;

const INVALID = { code: 400, message: 'Invalid request data' };

describe('POST /v1/event', () => {
  test('stores every field as it was given', async () => {
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
    expect(await service.rows()).toEqual([
      {
        ...{ seq: 1, id: expect.any(String), type: 'event', arrivals: 1 },
        ...{ project, channel, event: event.replace('\u0000', '\ufffd'), user_id },
        body: { ...full, event: event.replace('\u0000', '\ufffd') },
        called_at: '2026-01-31T18:29:59.123Z',
        received_at: expect.any(String),
      },
    ]);
  });

  test('fills in the defaults that the interface names', async () => {
    const service = runService();
    const before = new Date().toISOString();
    await service.post('/v1/event', event);
    const [row] = await service.rows();
    expect(row!.body).toEqual({ ...event, notify: false, tags: {}, timestamp: row!.received_at });
    expect(row).not.toHaveProperty('user_id');
    expect(row!.called_at).toBe(row!.received_at);
    expect(row!.received_at >= before && row!.received_at <= new Date().toISOString()).toBe(true);
  });

  test('keeps a key named __proto__ and ignores an unknown field', async () => {
    const service = runService();
    const tags = '{"__proto__":{"a":1},"constructor":2}';
    await service.post(
      '/v1/event',
      `{"project":"p","channel":"c","event":"e","tags":${tags},"x":1}`,
    );
    const [row] = await service.rows();
    expect(JSON.stringify((row!.body as { tags: object }).tags)).toBe(tags);
    expect(row!.body).not.toHaveProperty('x');
  });

  test.each(badEvents)('refuses a body that %s and stores nothing', async (_, body) => {
    const service = runService();
    const response = await service.post('/v1/event', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual(INVALID);
    expect(await service.rows()).toEqual([]);
  });
});

describe('POST /v1/identify', () => {
  test('creates a profile', async () => {
    const service = runService();
    const properties = { name: 'Ada', age: 36, plan: { tier: 'pro' } };
    const response = await service.post('/v1/identify', { ...identify, properties });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ success: true, message: 'Profile stored' });
    const [profile, ...others] = await profilesOf(service);
    expect(others).toEqual([]);
    expect(profile).toEqual({
      project: 'p',
      user_id: 'u',
      properties,
      set_at: Object.fromEntries(Object.keys(properties).map((key) => [key, profile!.created_at])),
      created_at: expect.any(String),
      updated_at: profile!.created_at,
    });
  });

  test('merges the properties of an update one level deep', async () => {
    const service = runService();
    const first = { name: 'Ada', age: 36, plan: { tier: 'pro', seats: 3 } };
    const second = { age: null, plan: { tier: 'free' }, city: 'London' };
    await service.post('/v1/identify', { ...identify, properties: first });
    await service.post('/v1/identify', { ...identify, properties: second });
    const [profile, ...others] = await profilesOf(service);
    expect(others).toEqual([]);
    expect(profile!.properties).toEqual({
      name: 'Ada',
      age: null,
      plan: { tier: 'free' },
      city: 'London',
    });
  });

  test('keeps a property named __proto__ through a merge', async () => {
    const service = runService();
    await service.post(
      '/v1/identify',
      '{"project":"p","user_id":"u","properties":{"__proto__":1}}',
    );
    await service.post('/v1/identify', { ...identify, properties: { a: 2 } });
    const [profile] = await profilesOf(service);
    expect(JSON.stringify(profile!.properties)).toBe('{"__proto__":1,"a":2}');
  });

  test('keeps the same user of two projects apart', async () => {
    const service = runService();
    await service.post('/v1/identify', { ...identify, properties: { a: 1 } });
    await service.post('/v1/identify', { ...identify, project: 'q', properties: { b: 2 } });
    const profiles = await profilesOf(service);
    expect(profiles.map(({ project, properties }) => [project, properties])).toEqual([
      ['p', { a: 1 }],
      ['q', { b: 2 }],
    ]);
  });

  test('keeps every call in the history, in the order it came', async () => {
    const service = runService();
    for (const n of [1, 2, 2]) {
      await service.post('/v1/identify', { ...identify, properties: { n } });
    }
    const rows = await service.rows();
    expect(rows.map(({ seq, body }) => [seq, (body as typeof identify).properties])).toEqual([
      [1, { n: 1 }],
      [2, { n: 2 }],
      [3, { n: 2 }],
    ]);
  });

  test.each(badIdentifies)('refuses a body that %s and stores nothing', async (_, body) => {
    const service = runService();
    const response = await service.post('/v1/identify', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual(INVALID);
    expect(await service.rows()).toEqual([]);
    expect(await profilesOf(service)).toEqual([]);
  });
});

describe.each([
  ['/v1/event', event],
  ['/v1/identify', identify],
])('both operations: %s', (path, body) => {
  const text = JSON.stringify(body);

  test.each([
    ['cut off', text.slice(0, -1)],
    ['followed by more', `${text}x`],
    ['empty', ''],
    ['not JSON', 'project=p'],
  ])('refuses JSON that is %s', async (_, bad) => {
    const service = runService();
    const response = await service.post(path, bad);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual(INVALID);
  });

  test('refuses bytes that are not UTF-8', async () => {
    const service = runService();
    const bytes = Buffer.from(text.replace('"p"', '"p\u00e9"'), 'latin1');
    const response = await service.send(path, {
      method: 'POST',
      headers: { authorization: 'Bearer test-token', 'content-type': 'application/json' },
      body: bytes,
    });
    expect(response.status).toBe(400);
  });

  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=utf-8',
    'application/json; charset="UTF-8"',
  ])('accepts the content type %s', async (type) => {
    const service = runService();
    expect((await service.post(path, text, { 'content-type': type })).status).toBe(200);
  });

  test.each([
    null,
    'text/plain',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'application/json; charset=iso-8859-1',
    'application/ld+json',
  ])('refuses the content type %s and stores nothing', async (type) => {
    const service = runService();
    const response = await service.post(path, text, { 'content-type': type });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual(INVALID);
    expect(await service.rows()).toEqual([]);
  });

  test.each([
    ['no header', null],
    ['no token', 'Bearer'],
    ['a wrong token', 'Bearer wrong'],
    ['a token with more behind it', 'Bearer test-token x'],
    ['the token in another case', 'Bearer TEST-TOKEN'],
    ['another scheme', 'Basic test-token'],
    ['the token alone', 'test-token'],
  ])('answers 401 to %s and stores nothing', async (_, authorization) => {
    const service = runService();
    const response = await service.post(path, text, { authorization });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.json()).toEqual({ code: 401, message: 'Missing or wrong API token' });
    expect(await service.rows()).toEqual([]);
  });

  test('answers 401, not 400, when both are due', async () => {
    const service = runService();
    expect((await service.post(path, '{', { authorization: null })).status).toBe(401);
  });

  test('accepts the scheme in any case', async () => {
    const service = runService();
    expect((await service.post(path, text, { authorization: 'bearer test-token' })).status).toBe(
      200,
    );
  });

  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])('answers 405 to %s', async (method) => {
    const service = runService();
    const response = await service.send(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST, OPTIONS');
    if (method === 'HEAD') return;
    expect(await response.json()).toEqual({ code: 405, message: 'Method not allowed' });
  });

  test('accepts a body of the greatest size, and answers 413 to one byte more', async () => {
    const service = runService();
    const whole = text.padEnd(MAX_BODY_BYTES, ' ');
    expect((await service.post(path, whole)).status).toBe(200);
    const response = await service.post(path, `${whole} `);
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ code: 413, message: 'Too large' });
    expect(await service.rows()).toHaveLength(1);
  });

  test('answers 413 to a large body sent in chunks without a length', async () => {
    const service = runService();
    const chunk = new Uint8Array(64 * 1024).fill(32);
    let left = 17;
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => (left-- > 0 ? controller.enqueue(chunk) : controller.close()),
    });
    const init = {
      method: 'POST',
      headers: { authorization: 'Bearer test-token', 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    };
    expect((await service.send(path, init as RequestInit)).status).toBe(413);
  });

  test('accepts a small body sent in chunks', async () => {
    const service = runService();
    const halves = [text.slice(0, 9), text.slice(9)].map((half) => new TextEncoder().encode(half));
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        const half = halves.shift();
        if (half) controller.enqueue(half);
        else controller.close();
      },
    });
    const init = {
      method: 'POST',
      headers: { authorization: 'Bearer test-token', 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    };
    expect((await service.send(path, init as RequestInit)).status).toBe(200);
  });
});

test.each([
  '/',
  '/v1',
  '/v1/',
  '/v1/event/',
  '/v1/events',
  '/v2/event',
  '/_/nothing',
  '/favicon.ico',
])('answers 404 at %s', async (path) => {
  const service = runService();
  for (const response of [await service.send(path), await service.post(path, event)]) {
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ code: 404, message: 'Not found' });
  }
});
