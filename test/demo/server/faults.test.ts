import { describe, expect, it, test, vi } from 'vitest';
import { runService } from './helpers/run-service.js';
import { event, identify, TOKEN, type Client } from './helpers/service-client.js';

const names = async (service: Client) => (await service.events()).map((row) => row.event);
const run = () => runService({ faults: true });

test.each([
  ['PUT', '/_/faults'],
  ['DELETE', '/_/faults'],
  ['GET', '/_/requests'],
  ['DELETE', '/_/all'],
])('a service without the switch answers 404 to %s %s', async (method, path) => {
  const service = await runService();
  expect((await service.send(path, { method })).status).toBe(404);
});

describe('a rule', () => {
  it('answers a status so many times, with its headers and the usual body, as the service may', async () => {
    const service = await run();
    await service.setFaults({ status: 429, headers: { 'Retry-After': '2' }, times: 2 });
    for (const name of ['one', 'two']) {
      const response = await service.post('/v1/event', { ...event, event: name });
      expect(response.status).toBe(429);
      expect(response.headers.get('retry-after')).toBe('2');
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(await response.json()).toEqual({ code: 429, message: 'Fault' });
    }
    expect((await service.post('/v1/event', { ...event, event: 'three' })).status).toBe(200);
    expect(await names(service)).toEqual(['three']);
  });

  it.each([
    [{ status: 200, body: { success: false, message: 'no' } }, '{"success":false,"message":"no"}'],
    [{ status: 500, body: '<html>' }, '<html>'],
    [{ status: 204 }, ''],
  ])('answers as %j says', async (rule, body) => {
    const service = await run();
    await service.setFaults(rule);
    const response = await service.post('/v1/event', event);
    expect([response.status, await response.text()]).toEqual([rule.status, body]);
    expect(await names(service)).toEqual([]);
  });

  it('takes a header away, with and without a status', async () => {
    const service = await run();
    const headers = { 'access-control-allow-origin': null };
    await service.setFaults({ times: 1, status: 502, headers }, { headers });
    for (const status of [502, 200]) {
      const response = await service.post('/v1/event', event);
      expect(response.status).toBe(status);
      expect(response.headers.has('access-control-allow-origin')).toBe(false);
    }
  });

  it.each([
    [{ property: { n: 2 } }, ['e1', 'e3']],
    [{ property: 'n' }, []],
    [{ event: 'e3' }, ['e1', 'e2']],
    [{ path: '/v1/identify' }, ['e1', 'e2', 'e3']],
    [{ user_id: 'u' }, ['e2', 'e3']],
  ])('that matches %j meets these records alone', async (match, left) => {
    const service = await run();
    await service.setFaults({ match, status: 400 });
    for (const n of [1, 2, 3]) {
      const user = n === 1 ? { user_id: 'u' } : {};
      await service.post('/v1/event', { ...event, ...user, event: `e${n}`, tags: { n } });
    }
    expect(await names(service)).toEqual(left);
  });

  it('lets the first ones pass, and comes before the token is looked at', async () => {
    const service = await run();
    await service.setFaults({ status: 503, skip: 1, times: 1 });
    const send = async () =>
      (await service.post('/v1/event', event, { authorization: null })).status;
    expect([await send(), await send(), await send()]).toEqual([401, 503, 401]);
    const shown = await (await service.send('/_/faults')).json();
    expect(shown).toEqual({ faults: [{ status: 503, skip: 1, times: 1, seen: 2, fired: 1 }] });
  });

  it.each([[{ reset: true }], [{ reset: true, after: true }], [{ delay: 1, after: true }]])(
    '%j stores only what it says',
    async (rule) => {
      const service = await run();
      await service.setFaults(rule);
      await service.post('/v1/event', event).catch(() => undefined);
      await vi.waitFor(async () => expect(await service.requests()).toHaveLength(1));
      expect(await names(service)).toEqual('after' in rule ? ['e'] : []);
    },
  );

  it('holds requests up until it is taken away', async () => {
    const service = await run();
    await service.setFaults({ hang: true });
    for (const path of ['/_/faults', '/_/all']) {
      await service.setFaults({ hang: true });
      const ended = expect(service.post('/v1/event', event)).rejects.toThrow();
      await vi.waitFor(async () => expect((await service.requests()).length).toBeGreaterThan(0));
      await service.send(path, { method: 'DELETE' });
      await ended;
    }
    expect(await names(service)).toEqual([]);
    expect((await service.post('/v1/event', event)).status).toBe(200);
  });

  it('that is wrong is refused in words, and those before stay', async () => {
    const service = await run();
    await service.setFaults({ status: 503 });
    for (const [rule, message] of [
      [{ stauts: 500 }, 'Rule 0: `stauts` is unknown'],
      [{ match: { even: 'e' } }, 'Rule 0: `match` is wrong'],
      [{ body: 'x' }, 'Rule 0: `body` needs a `status`'],
      [{ status: 700 }, 'Rule 0: `status` is wrong'],
    ] as const) {
      const response = await service.setFaults(rule as object);
      expect(await response.json()).toEqual({ code: 400, message });
    }
    expect((await service.post('/v1/event', event)).status).toBe(503);
    expect((await service.send('/v1/event', { method: 'OPTIONS' })).status).toBe(204);
  });
});

it('handles a delayed request although its client has left', async () => {
  const service = await run();
  await service.setFaults({ delay: 100, times: 1 });
  const leaving = new AbortController();
  const answer = fetch(`${service.url}/v1/event`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(event),
    signal: leaving.signal,
  });
  await vi.waitFor(async () => expect(await service.requests()).toHaveLength(1));
  leaving.abort();
  await expect(answer).rejects.toThrow();
  await vi.waitFor(async () => expect(await names(service)).toEqual(['e']));
});

it('logs every POST with what became of it, and clears rows, rules and log', async () => {
  const service = await run();
  await service.setFaults({ match: { event: 'gone' }, reset: true });
  await service.post('/v1/event', event, { 'idempotency-key': 'k', 'user-agent': 'me' });
  await service.post('/v1/event', '{', { authorization: null, 'user-agent': 'me' });
  await service.post('/v1/event', { event: 'gone' }, { 'user-agent': 'me' }).catch(() => {});
  await service.post('/v1/identify', identify, { 'user-agent': 'me' });
  await service.send('/v1/event');
  const usual = { at: expect.any(Number), path: '/v1/event', user_agent: 'me' };
  const without = { idempotency_key: null, authorization_ok: true };
  expect(await service.requests()).toEqual([
    { n: 1, ...usual, ...without, body: event, status: 200, idempotency_key: 'k' },
    { n: 2, ...usual, ...without, body: null, status: 401, authorization_ok: false },
    { n: 3, ...usual, ...without, body: { event: 'gone' }, status: 0 },
    { n: 4, ...usual, ...without, path: '/v1/identify', body: identify, status: 200 },
  ]);
  await service.send('/_/all', { method: 'DELETE' });
  expect([await service.requests(), await service.events()]).toEqual([[], []]);
});

it('logs the newest 500 requests, numbered on', async () => {
  const service = await run();
  for (let n = 1; n <= 502; n++) await service.post('/v1/event', {}, { authorization: null });
  const numbers = (await service.requests()).map(({ n }) => n);
  expect(numbers).toEqual(Array.from({ length: 500 }, (_, n) => n + 3));
});

it('reads no more of a body than the service would', async () => {
  const service = await run();
  const chunk = new Uint8Array(65_536).fill(32);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += chunk.length;
      if (sent > 64 * 2 ** 20) controller.close();
      else controller.enqueue(chunk);
    },
  });
  const init = {
    method: 'POST',
    body,
    duplex: 'half',
    headers: { authorization: `Bearer ${TOKEN}` },
  };
  await service.send('/v1/event', init as RequestInit).catch(() => undefined); // it may be cut off
  expect(sent).toBeLessThan(32 * 2 ** 20);
  await vi.waitFor(async () => {
    const [request] = await service.requests();
    expect(request).toMatchObject({ body: null });
    expect(request!.status).toBeGreaterThanOrEqual(400);
  });
  expect(await names(service)).toEqual([]);
});
