import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { GRACE_MS } from '../../../demo/server/listen';
import { readSettings } from '../../../demo/server/program';
import { event, identify, postOf } from '../../server/support/run-service.js';
import { runService } from './run-service';

test('closes at once with idle, silent and hanging connections open', async () => {
  const service = await runService({ faults: true });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  await new Promise((resolve, reject) => {
    const idle = request(`${service.url}/_/events`, { agent }, (response) => {
      response.resume().on('end', resolve);
    });
    idle.on('error', reject).end();
  });
  const silent = connect(service.port, '127.0.0.1');
  onTestFinished(() => void silent.destroy());
  await new Promise((resolve) => silent.on('connect', resolve));
  await service.setFaults({ hang: true });
  const ended = expect(service.post('/v1/event', event)).rejects.toThrow();
  await vi.waitFor(async () => expect(await service.requests()).toHaveLength(1));
  const start = performance.now();
  await service.close();
  await ended;
  expect(performance.now() - start).toBeLessThan(GRACE_MS);
});

test('answers what has arrived before it closes', async () => {
  const service = await runService();
  let closing: Promise<void> | undefined;
  const status = await new Promise((resolve, reject) => {
    // It sends its body only when the service asks for it: then it is being handled.
    const headers = { ...Object.fromEntries(postOf('').headers as []), expect: '100-continue' };
    const slow = request(`${service.url}/v1/event`, { method: 'POST', headers });
    slow.on('error', reject);
    slow.on('response', (response) => resolve([response.statusCode, response.headers.connection]));
    slow.on('continue', () => {
      closing = service.close();
      slow.end(JSON.stringify(event));
    });
    slow.flushHeaders();
  });
  expect(status).toEqual([200, 'close']);
  await closing;
});

test('gives a reader the rows as they come', async () => {
  const service = await runService();
  const rows = async (query: string) =>
    (await service.json<{ rows: { seq: number }[] }>(`/_/rows?${query}`)).rows;
  expect(await rows('limit=10')).toEqual([]);
  const coming = rows('after=0&wait=1');
  await service.post('/v1/event', { ...event, tags: { demo_id: 'x-1' } });
  expect(await coming).toMatchObject([{ seq: 1, event: 'e', body: { tags: { demo_id: 'x-1' } } }]);
  await service.post('/v1/event', event);
  expect((await rows('limit=1')).map(({ seq }) => seq)).toEqual([2]);
  const waiting = expect(rows('after=2&wait=1')).rejects.toThrow();
  await vi.waitFor(() => rows('after=2'));
  await service.close(); // and does not wait for those who wait
  await waiting;
});

test('lets no page of another site read what is stored, delete it, or set a fault', async () => {
  const service = await runService({ faults: true });
  const headers = { origin: 'https://elsewhere.example' };
  const rows = await service.send('/_/rows', { headers });
  expect(rows.headers.has('access-control-allow-origin')).toBe(false);
  for (const [method, path] of [
    ['DELETE', '/_/all'],
    ['PUT', '/_/faults'],
  ] as const) {
    const asked = { ...headers, 'access-control-request-method': method };
    const answer = await service.send(path, { method: 'OPTIONS', headers: asked });
    expect(answer.headers.get('access-control-allow-methods')).not.toContain(method);
  }
});

test('lists what is stored, and counts it on all pages', async () => {
  const service = await runService();
  for (const project of ['p', 'q', 'p']) await service.post('/v1/event', { ...event, project });
  await service.post('/v1/identify', identify);
  // The sums and the profiles follow the rows.
  await vi.waitFor(async () => {
    const { events, total } = await service.list('events', '?project=p&after=1&limit=1');
    expect([events.map(({ id }) => id), total]).toEqual([[3], 2]);
    expect((await service.list('profiles')).total).toBe(1);
  });
  expect(await service.list('identifies')).toMatchObject({ identifies: [{ user_id: 'u' }] });
});

test('deletes the rows with a tag or a property of a name, and no others', async () => {
  const service = await runService();
  await service.post('/v1/event', event);
  await service.post('/v1/event', { ...event, tags: { demo_id: null } });
  await service.post('/v1/identify', { ...identify, user_id: 'visitor' });
  await service.post('/v1/identify', { ...identify, properties: { demo_id: 'x-1' } });
  await service.send('/_/records?with=demo_id', { method: 'DELETE' });
  expect((await service.list('events')).events.map(({ id }) => id)).toEqual([1]);
  for (const name of ['profiles', 'identifies']) {
    await vi.waitFor(async () =>
      expect(await service.list(name)).toMatchObject({
        [name]: [{ user_id: 'visitor' }],
        total: 1,
      }),
    );
  }
});

test('can be told to know no repeats', async () => {
  const service = await runService({ ignoreKeys: true });
  const key = { 'idempotency-key': 'k' };
  await service.post('/v1/event', event, key);
  await service.post('/v1/event', event, key);
  const { events } = await service.list('events');
  expect(events.map((row) => row['idempotency_key'])).toEqual([null, null]);
});

test('reads its settings from the environment, and says what is no port', () => {
  const env = { PORT: '', HOST: '', DATABASE: '', TOKEN: '', FAULTS: '', IGNORE_KEYS: '' };
  expect(readSettings(env)).toMatchObject({ port: 8787, nextFree: true, tokens: ['demo-token'] });
  expect(readSettings({ ...env, PORT: '0', FAULTS: '1', TOKEN: 't' })).toMatchObject({
    ...{ port: 0, nextFree: false, faults: true, tokens: ['t'] },
  });
  expect(() => readSettings({ PORT: 'x' })).toThrow('PORT must be a number from 0 to 65535');
});
