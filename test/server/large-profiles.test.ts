import { expect, it } from 'vitest';
import type { BatchAnswer } from '../../src/interface/wire.js';
import { event, identify, runService } from './support/run-service.js';

const setUp = async (options = {}) => {
  const clock = { time: Date.parse('2026-03-01T00:00:00Z') };
  const { post } = runService({
    ...{ rateLimit: { perSecond: 10_000, burst: 10_000 }, now: () => clock.time, ...options },
    clientAddress: (request) => request.headers.get('x-client') ?? undefined,
  });
  /** The status of an identify of a few bytes to a large profile. */
  const touch = async (client: string, n = 0) => {
    const response = await post(
      ...(['/v1/identify', { ...identify, properties: { n } }, { 'x-client': client }] as const),
    );
    return response.status;
  };
  const properties = { first: 'x'.repeat(120_000) };
  await post('/v1/identify', { ...identify, properties }, { 'x-client': 'a' });
  await post('/v1/identify', { ...identify, properties: { second: properties.first } });
  let taken = 0;
  while (taken < 200 && (await touch('a', taken)) === 200) taken++;
  return { clock, post, touch, taken };
};

it('charges a client for the large profiles that it writes to, and nobody else', async () => {
  const { clock, post, touch, taken } = await setUp();
  // 16 MiB, a quarter of one for each, and what was sent before.
  expect(taken).toBeGreaterThan(60);
  expect(taken).toBeLessThan(75);
  expect(await touch('a')).toBe(429);
  expect((await post('/v1/event', event, { 'x-client': 'a' })).status).toBe(200);
  expect(await touch('b')).toBe(200);

  const outcomes = async (client: string) => {
    const records = [
      { id: `${client} 1`, type: 'identify', body: identify },
      { id: `${client} 2`, type: 'event', body: event },
    ];
    const response = await post(
      ...(['/v1/batch', { sent_at: 'x', records }, { 'x-client': client }] as const),
    );
    const { results } = (await response.json()) as BatchAnswer;
    return results.map(({ outcome, status }) => `${outcome} ${status}`);
  };
  expect(await outcomes('a')).toEqual(['retry 429', 'delivered 200']);
  expect(await outcomes('b')).toEqual(['delivered 200', 'delivered 200']);
  clock.time += 1_000;
  expect(await touch('a')).toBe(200);
  expect(await outcomes('a')).toEqual(['delivered 200', 'delivered 200']);
});

it('charges a client for identifies that the profile has no room for', async () => {
  const { post } = runService({
    rateLimit: { perSecond: 10_000, burst: 10_000 },
    clientAddress: () => 'a',
    now: () => Date.parse('2026-03-01T00:00:00Z'),
  });
  const named = (from: number, to: number) =>
    Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`p${from + n}`, n]));
  const send = async (properties: object) =>
    (await post('/v1/identify', { ...identify, properties })).status;
  expect(await send(named(0, 1_000))).toBe(200);
  const answers = new Map<number, number>();
  for (let n = 0; n < 100; n++) {
    const status = await send({ [`more ${n}`]: n });
    answers.set(status, (answers.get(status) ?? 0) + 1);
  }
  expect([...answers.keys()]).toEqual([422, 429]);
  expect(answers.get(422)).toBeLessThanOrEqual(64);
});

it('charges nobody where clients have no limit', async () => {
  expect((await setUp({ rateLimit: false })).taken).toBe(200);
});
