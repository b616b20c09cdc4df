import { describe, expect, test, vi } from 'vitest';
import { runService } from '../helpers/run-service';
import { event, identify, TOKEN, type Client } from '../helpers/service-client';

const names = async (service: Client) => (await service.events()).map((row) => row.event);

describe('without the switch', () => {
  test.each([
    ['PUT', '/_/faults'],
    ['GET', '/_/faults'],
    ['DELETE', '/_/faults'],
    ['GET', '/_/requests'],
    ['DELETE', '/_/requests'],
    ['DELETE', '/_/all'],
  ])('answers 404 to %s %s', async (method, path) => {
    const service = await runService();
    expect((await service.send(path, { method })).status).toBe(404);
  });
});

describe('with the switch', () => {
  const run = () => runService({ faults: true });

  test('answers a status so many times, with its headers and the usual body', async () => {
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

  test.each([
    [{ status: 200, body: { success: false, message: 'no' } }, '{"success":false,"message":"no"}'],
    [{ status: 500, body: '<html>' }, '<html>'],
    [{ status: 500, body: '' }, ''],
    [{ status: 200 }, '{"success":true,"message":"Fault"}'],
    [{ status: 204 }, ''],
  ])('answers as %j says', async (rule, body) => {
    const service = await run();
    await service.setFaults(rule);
    const response = await service.post('/v1/event', event);
    expect(response.status).toBe(rule.status);
    expect(await response.text()).toBe(body);
    expect(await names(service)).toEqual([]);
  });

  test('takes a header away', async () => {
    const service = await run();
    await service.setFaults(
      { times: 1, status: 502, headers: { 'access-control-allow-origin': null } },
      { headers: { 'access-control-allow-origin': null, 'x-more': '1' } },
    );
    for (const status of [502, 200]) {
      const response = await service.post('/v1/event', event);
      expect(response.status).toBe(status);
      expect(response.headers.has('access-control-allow-origin')).toBe(false);
    }
  });

  test('refuses the one record a rule names', async () => {
    const service = await run();
    await service.setFaults({ match: { property: { n: 2 } }, status: 400 });
    for (const n of [1, 2, 3]) {
      await service.post('/v1/event', { ...event, event: `e${n}`, tags: { n } });
    }
    expect(await names(service)).toEqual(['e1', 'e3']);
  });

  test('comes before the token is looked at', async () => {
    const service = await run();
    await service.setFaults({ status: 503, times: 1 });
    expect((await service.post('/v1/event', event, { authorization: null })).status).toBe(503);
    expect((await service.post('/v1/event', event, { authorization: null })).status).toBe(401);
  });

  test('never applies to a preflight', async () => {
    const service = await run();
    await service.setFaults({ status: 500 });
    expect((await service.send('/v1/event', { method: 'OPTIONS' })).status).toBe(204);
    const { faults } = (await (await service.send('/_/faults')).json()) as { faults: unknown[] };
    expect(faults).toEqual([{ status: 500, seen: 0, fired: 0 }]);
  });

  test('stores first when told to', async () => {
    const service = await run();
    await service.setFaults({ status: 500, after: true, times: 1 });
    const key = { 'idempotency-key': 'k' };
    expect((await service.post('/v1/event', event, key)).status).toBe(500);
    expect(await names(service)).toEqual(['e']);
    expect((await service.post('/v1/event', event, key)).status).toBe(200);
    expect(await names(service)).toEqual(['e']);
  });

  test('delays the handling, or the answer', async () => {
    const service = await run();
    const delay = 150;
    await service.setFaults(
      { match: { event: 'before' }, delay },
      { match: { event: 'after' }, delay, after: true },
    );
    const timed = async (name: string) => {
      const start = performance.now();
      const { status } = await service.post('/v1/event', { ...event, event: name });
      // A timer may fire a millisecond early.
      return [status, performance.now() - start >= delay - 1];
    };
    expect(await Promise.all(['before', 'after'].map(timed))).toEqual([
      [200, true],
      [200, true],
    ]);
    expect(await names(service)).toEqual(['after', 'before']);
  });

  test('handles a delayed request although its client has left', async () => {
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

  test('hangs until everything is cleared, and stores nothing', async () => {
    const service = await run();
    await service.setFaults({ hang: true });
    const answer = service.post('/v1/event', event);
    const ended = expect(answer).rejects.toThrow();
    await vi.waitFor(async () => expect(await service.requests()).toHaveLength(1));
    await service.send('/_/all', { method: 'DELETE' });
    await ended;
    expect(await names(service)).toEqual([]);
  });

  test('hangs after storing', async () => {
    const service = await run();
    await service.setFaults({ hang: true, after: true });
    const ended = expect(service.post('/v1/event', event)).rejects.toThrow();
    await vi.waitFor(async () => expect(await names(service)).toEqual(['e']));
    await service.send('/_/all', { method: 'DELETE' });
    await ended;
  });

  test('drops a delayed request when everything is cleared', async () => {
    const service = await run();
    await service.setFaults({ delay: 60_000 });
    const ended = expect(service.post('/v1/event', event)).rejects.toThrow();
    await vi.waitFor(async () => expect(await service.requests()).toHaveLength(1));
    await service.send('/_/all', { method: 'DELETE' });
    await ended;
    expect(await names(service)).toEqual([]);
  });

  test.each([
    [false, []],
    [true, ['e']],
  ])('resets the connection, after storing: %s', async (after, stored) => {
    const service = await run();
    await service.setFaults({ reset: true, after });
    const error = await service.post('/v1/event', event).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ cause: { code: 'ECONNRESET' } });
    expect(await names(service)).toEqual(stored);
  });

  test('shows the rules with their counts, and clears them', async () => {
    const service = await run();
    const rule = { match: { path: '/v1/identify' }, status: 500 };
    const set = await service.setFaults(rule, { status: 503 });
    expect(await set.json()).toEqual({
      faults: [
        { ...rule, seen: 0, fired: 0 },
        { status: 503, seen: 0, fired: 0 },
      ],
    });
    await service.post('/v1/identify', identify);
    const shown = await service.send('/_/faults');
    expect(await shown.json()).toMatchObject({ faults: [{ fired: 1 }, { fired: 0 }] });
    await service.send('/_/faults', { method: 'DELETE' });
    expect(await (await service.send('/_/faults')).json()).toEqual({ faults: [] });
    expect((await service.post('/v1/identify', identify)).status).toBe(200);
  });

  test('refuses a wrong rule in words and keeps the rules it has', async () => {
    const service = await run();
    await service.setFaults({ status: 503 });
    const response = await service.setFaults({ stauts: 500 } as object);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ code: 400, message: 'Rule 0: `stauts` is unknown' });
    expect((await service.post('/v1/event', event)).status).toBe(503);
  });

  test('logs every POST with what became of it', async () => {
    const service = await run();
    await service.setFaults({ match: { event: 'gone' }, reset: true });
    await service.post('/v1/event', event, { 'idempotency-key': 'k', 'user-agent': 'me' });
    await service.post('/v1/event', '{', { authorization: null, 'user-agent': 'me' });
    await service.post('/v1/event', { event: 'gone' }, { 'user-agent': 'me' }).catch(() => {});
    await service.send('/v1/event');
    const usual = { at: expect.any(Number), path: '/v1/event', user_agent: 'me' };
    const without = { idempotency_key: null, authorization_ok: true };
    expect(await service.requests()).toEqual([
      { n: 1, ...usual, ...without, body: event, status: 200, idempotency_key: 'k' },
      { n: 2, ...usual, ...without, body: null, status: 401, authorization_ok: false },
      { n: 3, ...usual, ...without, body: { event: 'gone' }, status: 0 },
    ]);
    await service.send('/_/requests', { method: 'DELETE' });
    expect(await service.requests()).toEqual([]);
  });

  test('still answers 413 to a body that is too large, and logs it', async () => {
    const service = await run();
    expect((await service.post('/v1/event', ' '.repeat(1024 * 1024 + 1))).status).toBe(413);
    expect(await service.requests()).toMatchObject([{ body: null, status: 413 }]);
  });

  test('deletes records apart from rules and log, or all three', async () => {
    const service = await run();
    await service.setFaults({ match: { event: 'other' }, status: 500 });
    await service.post('/v1/event', event);
    const counts = async () => [
      (await service.events()).length,
      (await service.requests()).length,
      ((await (await service.send('/_/faults')).json()) as { faults: unknown[] }).faults.length,
    ];
    expect(await counts()).toEqual([1, 1, 1]);
    await service.send('/_/records', { method: 'DELETE' });
    expect(await counts()).toEqual([0, 1, 1]);
    await service.post('/v1/event', event);
    await service.send('/_/all', { method: 'DELETE' });
    expect(await counts()).toEqual([0, 0, 0]);
  });
});
