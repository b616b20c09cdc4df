import { describe, expect, it, vi } from 'vitest';
import type { FaultRule } from '../../../demo/server/fault-rules.js';
import { event, identify, postOf, streamOf } from '../../server/support/run-service.js';
import { runService } from './run-service.js';

const run = () => runService({ faults: true });

it.each([
  ['PUT', '/_/faults'],
  ['DELETE', '/_/faults'],
  ['GET', '/_/requests'],
  ['DELETE', '/_/all'],
])('a service without the switch answers 404 to %s %s', async (method, path) => {
  const service = await runService();
  expect((await service.send(path, { method })).status).toBe(404);
});

describe('a rule', () => {
  const ALL = ['e1', 'e2', 'e3'];

  it.each<[rule: FaultRule, statuses: number[], stored: string[]]>([
    [{ status: 503 }, [503, 503, 503], []],
    [{ status: 429, times: 2 }, [429, 429, 200], ['e3']],
    [{ status: 503, skip: 1, times: 1 }, [200, 503, 200], ['e1', 'e3']],
    [{ status: 400, match: { property: { n: 2 } } }, [200, 400, 200], ['e1', 'e3']],
    [{ status: 400, match: { property: 'n' } }, [400, 400, 400], []],
    [{ status: 400, match: { event: 'e3' } }, [200, 200, 400], ['e1', 'e2']],
    [{ status: 400, match: { path: '/v1/identify' } }, [200, 200, 200], ALL],
    [{ status: 400, match: { user_id: 'u' } }, [400, 200, 200], ['e2', 'e3']],
    [{ reset: true, times: 1 }, [0, 200, 200], ['e2', 'e3']],
    [{ reset: true, after: true, times: 1 }, [0, 200, 200], ALL],
    [{ delay: 1, after: true }, [200, 200, 200], ALL],
  ])('%j answers three events with %j, and lets %j pass', async (rule, statuses, stored) => {
    const service = await run();
    await service.setFaults(rule);
    const got: number[] = [];
    for (const n of [1, 2, 3]) {
      const user = n === 1 ? { user_id: 'u' } : {};
      const sent = service.post('/v1/event', { ...event, ...user, event: `e${n}`, tags: { n } });
      got.push(await sent.then(({ status }) => status).catch(() => 0));
    }
    expect(got).toEqual(statuses);
    await vi.waitFor(async () => expect(await service.requests()).toHaveLength(3));
    expect(await service.names()).toEqual(stored);
  });

  it.each<[rule: FaultRule, body: string, origin: string | null]>([
    [{ status: 429, headers: { 'Retry-After': '2' } }, '{"code":429,"message":"Fault"}', '*'],
    [{ status: 200, body: { success: false } }, '{"success":false}', '*'],
    [{ status: 500, body: '<html>' }, '<html>', '*'],
    [{ status: 204 }, '', '*'],
    [{ status: 502, headers: { 'access-control-allow-origin': null }, body: '' }, '', null],
    [
      { headers: { 'access-control-allow-origin': null } },
      '{"success":true,"message":"Event stored"}',
      null,
    ],
  ])('%j answers with the body %s', async (rule, body, origin) => {
    const service = await run();
    await service.setFaults(rule);
    const response = await service.post('/v1/event', event);
    expect([response.status, await response.text()]).toEqual([rule.status ?? 200, body]);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('retry-after')).toBe(rule.headers?.['Retry-After'] ?? null);
    expect(await service.names()).toEqual(rule.status ? [] : ['e']);
  });

  it('comes before the token is looked at, and is shown with what it has met', async () => {
    const service = await run();
    await service.setFaults({ status: 503, skip: 1, times: 1 });
    const send = async () =>
      (await service.post('/v1/event', event, { authorization: null })).status;
    expect([await send(), await send(), await send()]).toEqual([401, 503, 401]);
    expect(await service.json('/_/faults')).toEqual({
      faults: [{ status: 503, skip: 1, times: 1, seen: 2, fired: 1 }],
    });
  });

  it('holds requests up until it is taken away', async () => {
    const service = await run();
    for (const path of ['/_/faults', '/_/all']) {
      await service.setFaults({ hang: true });
      const ended = expect(service.post('/v1/event', event)).rejects.toThrow();
      await vi.waitFor(async () => expect((await service.requests()).length).toBeGreaterThan(0));
      await service.send(path, { method: 'DELETE' });
      await ended;
    }
    expect(await service.names()).toEqual([]);
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
  const answer = service.send('/v1/event', { ...postOf(event), signal: leaving.signal });
  await vi.waitFor(async () => expect(await service.requests()).toHaveLength(1));
  leaving.abort();
  await expect(answer).rejects.toThrow();
  await vi.waitFor(async () => expect(await service.names()).toEqual(['e']));
});

it('logs every POST with what became of it, and clears rows, rules and log', async () => {
  const service = await run();
  await service.setFaults({ match: { event: 'gone' }, reset: true });
  const agent = { 'user-agent': 'me' };
  await service.post('/v1/event', event, { ...agent, 'idempotency-key': 'k' });
  await service.post('/v1/event', '{', { ...agent, authorization: null });
  await service.post('/v1/event', { event: 'gone' }, agent).catch(() => {});
  await service.post('/v1/identify', identify, agent);
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
  expect([await service.requests(), await service.names()]).toEqual([[], []]);
});

it('logs the newest 500 requests, numbered on', async () => {
  const service = await run();
  for (let n = 1; n <= 502; n++) await service.post('/v1/event', {}, { authorization: null });
  const numbers = (await service.requests()).map(({ n }) => n);
  expect(numbers).toEqual(Array.from({ length: 500 }, (_, n) => n + 3));
});

it('reads no more of a body than the service would', async () => {
  const service = await run();
  const chunk = ' '.repeat(65_536);
  let sent = 0;
  const counted = streamOf(Array.from({ length: 1_024 }, () => chunk)).pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        sent += piece.length;
        controller.enqueue(piece);
      },
    }),
  );
  await service.post('/v1/event', counted).catch(() => undefined); // it may be cut off
  expect(sent).toBeLessThan(32 * 2 ** 20);
  await vi.waitFor(async () => {
    const [request] = await service.requests();
    expect(request).toMatchObject({ body: null });
    expect(request!.status).toBeGreaterThanOrEqual(400);
  });
  expect(await service.names()).toEqual([]);
});
