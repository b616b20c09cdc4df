import { expect, it, vi } from 'vitest';
import { event, identify, runService } from './support/run-service.js';

const sumOf = (service: ReturnType<typeof runService>, name: string) => {
  const sums: Record<string, number> = {};
  for (const [metric, value, labels] of service.metrics) {
    if (metric === name) sums[labels] = (sums[labels] ?? 0) + value;
  }
  return sums;
};

it('counts what happened, and no more', async () => {
  const service = runService();
  const key = { 'idempotency-key': 'k' };
  for (let n = 0; n < 3; n++) await service.post('/v1/event', event);
  for (let n = 0; n < 3; n++) await service.post('/v1/identify', identify, key);
  await service.post('/v1/event', { ...event, tags: 1 });
  await service.post('/v1/event', event, { authorization: null });
  await service.send('/rows/../../etc/passwd');
  await service.send('/rows');
  expect(sumOf(service, 'records')).toEqual({ 'in delivered': 6, 'in rejected': 1 });
  expect(sumOf(service, 'repeats')).toEqual({ '': 2 });
  expect(sumOf(service, 'refused')).toEqual({ 'field true': 1, 'token true': 1 });
  expect(sumOf(service, 'requests')).toEqual({
    '/v1/event 200': 3,
    '/v1/identify 200': 3,
    '/v1/event 400': 1,
    '/v1/event 401': 1,
    'none 404': 1,
    '/rows 200': 1,
  });
  expect(service.metrics.filter(([name]) => name === 'store_ms')).toHaveLength(6);
  expect((await service.rows()).length).toBe(4);
});

it('keeps what many clients send wrong for people to see, and a flood of it in part', async () => {
  let time = Date.parse('2026-03-01T00:00:00Z');
  const service = runService({
    now: () => time,
    clientAddress: (request) => request.headers.get('x-client') ?? undefined,
  });
  const flood = (clients: number, each: number) =>
    Promise.all(
      Array.from({ length: clients * each }, (_, n) =>
        service.post('/v1/event', {}, { 'x-client': `192.0.2.${n % clients}` }),
      ),
    );
  const kept = () => sumOf(service, 'refused')['field true'];
  // Of one client 50 are kept at once, and of all 200.
  await flood(1, 60);
  expect(kept()).toBe(50);
  await flood(30, 10);
  expect(kept()).toBe(200);
  time += 1_000;
  await flood(30, 2);
  expect(kept()).toBe(220);
  await vi.waitFor(async () => expect(await service.store.countRefused()).toBe(220));
});

it('takes a hook that throws for no reason to lose a record', async () => {
  const service = runService({
    onMetric: () => {
      throw new Error('no');
    },
  });
  expect((await service.post('/v1/event', event)).status).toBe(200);
  expect(await service.rows()).toHaveLength(1);
  expect(service.errors[0]).toEqual({ kind: 'hook', message: '`onMetric` failed: no' });
});
