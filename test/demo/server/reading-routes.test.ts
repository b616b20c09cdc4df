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
  ['?project=p&user_id=a', [1, 4], 2],
  ['?user_id=b', [2, 5], 2],
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

test.each(['?limit=x', '?limit=-1', '?after=1.5'])('refuses %s', async (query) => {
  const service = await runService();
  const response = await service.send(`/_/events${query}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ code: 400, message: 'Invalid request data' });
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
  expect((await service.events()).map(({ id }) => id)).toEqual([2]);
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
  const response = await service.send('/_/events', { method: 'DELETE' });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, OPTIONS');
});
