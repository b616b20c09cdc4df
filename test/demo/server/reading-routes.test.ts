import { expect, test } from 'vitest';
import { runService } from './helpers/run-service';
import { event, identify, type Client } from './helpers/service-client';

async function storeFive(service: Client): Promise<void> {
  for (const [project, user_id] of ['pa', 'pb', 'qa', 'pa', 'qb'].map((pair) => [...pair])) {
    await service.post('/v1/event', { ...event, project, user_id });
  }
}

test('lists all events by ascending id, with their number', async () => {
  const service = await runService();
  await storeFive(service);
  const { events, total } = await service.list('events');
  expect(events.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
  expect(total).toBe(5);
});

test.each([
  ['?project=p', [1, 2, 4], 3],
  ['?after=3', [4, 5], 5],
  ['?limit=2', [1, 2], 5],
  ['?project=p&after=1&limit=1', [2], 3],
  ['?limit=0', [], 5],
  ['?project=none', [], 0],
  ['?project=', [1, 2, 3, 4, 5], 5],
  ["?project=p'%20OR%20TRUE--", [], 0],
])('lists the events of %s, and counts them on all pages', async (query, ids, total) => {
  const service = await runService();
  await storeFive(service);
  const page = await service.list('events', query);
  expect(page.events.map(({ id }) => id)).toEqual(ids);
  expect(page.total).toBe(total);
});

test('filters profiles and identifies by project', async () => {
  const service = await runService();
  await service.post('/v1/identify', identify);
  await service.post('/v1/identify', { ...identify, project: 'q' });
  await service.post('/v1/identify', { ...identify, project: 'q' });
  expect((await service.list('profiles', '?project=q')).total).toBe(1);
  expect((await service.list('identifies', '?project=q')).identifies).toHaveLength(2);
});

test('deletes all records, and never gives an id again', async () => {
  const service = await runService();
  await service.post('/v1/event', event, { 'idempotency-key': 'k' });
  await service.post('/v1/identify', identify);
  const response = await service.send('/_/records', { method: 'DELETE' });
  expect(await response.json()).toEqual({ success: true, message: 'Records deleted' });
  for (const name of ['events', 'profiles', 'identifies']) {
    expect(await service.list(name)).toEqual({ [name]: [], total: 0 });
  }
  await service.post('/v1/event', event, { 'idempotency-key': 'k' });
  expect((await service.events()).map(({ id }) => id)).toEqual([3]);
});

test('deletes the records with a tag or a property of a name, and no others', async () => {
  const service = await runService();
  await service.post('/v1/event', event);
  await service.post('/v1/event', { ...event, tags: { demo_id: null } });
  await service.post('/v1/identify', { ...identify, user_id: 'visitor' });
  await service.post('/v1/identify', { ...identify, properties: { demo_id: 'x-1' } });
  await service.send('/_/records?with=demo_id', { method: 'DELETE' });
  expect((await service.events()).map(({ id }) => id)).toEqual([1]);
  for (const name of ['profiles', 'identifies']) {
    expect(await service.list(name)).toMatchObject({ [name]: [{ user_id: 'visitor' }], total: 1 });
  }
});

test('answers 405 to a wrong method', async () => {
  const service = await runService();
  expect((await service.send('/_/events', { method: 'DELETE' })).status).toBe(405);
});

test('lets a page read and delete', async () => {
  const service = await runService();
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'DELETE' };
  const preflight = await service.send('/_/records', { method: 'OPTIONS', headers });
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
  expect(preflight.headers.get('access-control-allow-methods')).toContain('DELETE');
  const reading = await service.send('/_/events');
  expect(reading.headers.get('access-control-allow-origin')).toBe('*');
  expect(reading.headers.get('cache-control')).toBe('no-store');
});

test('can be told to know no repeats', async () => {
  const service = await runService({ ignoreKeys: true });
  const key = { 'idempotency-key': 'k' };
  await service.post('/v1/event', event, key);
  await service.post('/v1/event', event, key);
  expect((await service.events()).map((row) => row.idempotency_key)).toEqual([null, null]);
});
