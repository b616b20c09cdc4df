import { describe, expect, test } from 'vitest';
import type { Profile } from '../../src/service.js';
import { event, identify, runService } from './support/run-service.js';

const key = { 'idempotency-key': 'key-1' };

describe('Idempotency-Key', () => {
  test('gives a repeat the first answer and stores nothing', async () => {
    const service = runService();
    const first = await service.post('/v1/event', { ...event, event: 'first' }, key);
    const second = await service.post('/v1/event', { ...event, event: 'second' }, key);
    expect(second.status).toBe(first.status);
    expect(await second.text()).toBe(await first.text());
    const rows = await service.rows();
    expect(rows.map((row) => [row.event, row.id, row.arrivals])).toEqual([['first', 'key-1', 2]]);
  });

  test('stores one row of 20 parallel repeats', async () => {
    const service = runService();
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const response = await service.post('/v1/event', event, key);
        return [response.status, await response.text()];
      }),
    );
    expect(new Set(answers.map(String)).size).toBe(1);
    expect(answers[0]![0]).toBe(200);
    expect(await service.rows()).toHaveLength(1);
  });

  test('leaves the profile alone when an identify is repeated', async () => {
    const service = runService();
    await service.post('/v1/identify', { ...identify, properties: { n: 1 } }, key);
    await service.post('/v1/identify', { ...identify, properties: { n: 2 } });
    await service.post('/v1/identify', { ...identify, properties: { n: 1 } }, key);
    const { profiles } = await service.json<{ profiles: Profile[] }>('/profiles');
    expect(profiles[0]!.properties).toEqual({ n: 2 });
    expect(await service.rows()).toHaveLength(2);
  });

  test('stores a repeat without a key again', async () => {
    const service = runService();
    await service.post('/v1/event', event);
    await service.post('/v1/event', event, { 'idempotency-key': '' });
    await service.post('/v1/event', event);
    expect(await service.rows()).toHaveLength(3);
  });

  test('does not remember a refused request', async () => {
    const service = runService();
    expect((await service.post('/v1/event', {}, key)).status).toBe(400);
    expect((await service.post('/v1/event', event, { ...key, authorization: null })).status).toBe(
      401,
    );
    expect((await service.post('/v1/event', event, key)).status).toBe(200);
    expect(await service.rows()).toHaveLength(1);
  });

  test('keeps the keys of projects and of operations apart', async () => {
    const service = runService();
    await service.post('/v1/event', event, key);
    await service.post('/v1/event', { ...event, project: 'q' }, key);
    await service.post('/v1/identify', identify, key);
    expect(await service.rows()).toHaveLength(3);
  });
});
