import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ServiceOptions, Store } from '../../src/service.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import type { BatchAnswer } from '../../src/interface/wire.js';
import { tempFolder } from '../support/temp-folder.js';
import { incomingEvent } from './support/incoming.js';
import { refuseRows } from './support/refuse-rows.js';
import { event, runService } from './support/run-service.js';

/** A service whose database fails with these words while it is told to, and what it says of the end of a trouble. */
const runFailing = (options: Partial<ServiceOptions> = {}) => {
  const recovered: unknown[] = [];
  const service = runService({ onRecovery: (over) => recovered.push(over), ...options });
  const { store } = service;
  const { write, rows } = store;
  const fail = (words: string): void => {
    const reject = () => Promise.reject(new Error(words));
    Object.assign(store, { write: reject, rows: reject } satisfies Partial<Store>);
  };
  return { ...service, recovered, fail, mend: () => Object.assign(store, { write, rows }) };
};

it('answers 503 with a wait while the database fails, and says so once', async () => {
  let time = Date.parse('2026-03-01T00:00:00Z');
  const service = runFailing({ now: () => time });
  expect((await service.post('/v1/event', event)).status).toBe(200);
  service.fail('the disk is full');
  const response = await service.post('/v1/event', event);
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(await response.json()).toEqual({ code: 503, message: 'Try again later' });
  await service.post('/v1/event', event);
  expect(service.errors).toEqual([{ kind: 'store', message: 'the disk is full' }]);
  const ready = await service.send('/ready');
  expect(ready.status).toBe(503);
  expect(await ready.json()).toEqual({ status: 'failing' }); // why is for the log and the port of the operator
  expect(await service.service.health()).toMatchObject({ problem: 'the disk is full' });
  expect((await service.send('/live')).status).toBe(200);
  expect((await service.send('/rows')).status).toBe(503);
  service.mend();
  time += 3_000;
  expect((await service.post('/v1/event', event)).status).toBe(200);
  expect((await service.send('/ready')).status).toBe(200);
  expect(service.recovered).toEqual([{ kind: 'store', lastedMs: 3_000 }]);
  expect(await service.rows()).toHaveLength(2);
  const told = service.metrics.filter(([name]) => name === 'trouble').map(([, value]) => value);
  expect(told).toEqual([1, 0]);
});

it('is ready where the database answers, though searches hold up all reading', async () => {
  let time = Date.parse('2026-03-01T00:00:00Z');
  const service = runService({ now: () => time });
  vi.spyOn(service.store, 'rows').mockReturnValue(new Promise(() => {}));
  expect((await service.send('/ready')).status).toBe(200);
  vi.spyOn(service.store, 'check').mockRejectedValue(new Error('away'));
  time += 1_000;
  expect((await service.send('/ready')).status).toBe(503);
  expect(await service.service.health()).toMatchObject({ status: 'failing', problem: 'away' });
});

it('is not ready after a failed write until rows are stored, or there is room for them', async () => {
  let time = 1_000_000;
  const { store, send, post } = runService({ now: () => time });
  const check = vi.spyOn(store, 'check').mockImplementation(async ({ asksForRoom } = {}) => {
    if (asksForRoom) throw new Error('no room');
  });
  const write = vi.spyOn(store, 'write').mockRejectedValue(new Error('the disk is full'));
  const readyAfter = async (ms: number) => {
    time += ms;
    return (await send('/ready')).status;
  };
  expect(await readyAfter(1_000)).toBe(200);
  expect((await post('/v1/event', event)).status).toBe(503);
  for (let n = 0; n < 5; n++) expect(await readyAfter(2_000)).toBe(503);
  write.mockRestore();
  expect((await post('/v1/event', event)).status).toBe(200);
  expect(await readyAfter(0)).toBe(200);
  // A check that fails counts as well.
  check.mockRejectedValueOnce(new Error('away'));
  expect(await readyAfter(1_000)).toBe(503);
  expect(await readyAfter(1_000)).toBe(503);
  check.mockResolvedValue();
  expect(await readyAfter(1_000)).toBe(200);
});

it('asks the database no more than once a second whether it is ready, and not at all while it stores', async () => {
  let time = 1_000_000;
  const { store, send, post } = runService({ now: () => time });
  const check = vi.spyOn(store, 'check');
  await Promise.all([send('/ready'), send('/ready')]);
  time += 999;
  await send('/ready');
  expect(check).toHaveBeenCalledTimes(1);
  // An answer of the check is told to all who ask for it, as long as it takes.
  let fail: (error: Error) => void = () => {};
  check.mockReturnValueOnce(new Promise((_, reject) => (fail = reject)));
  time += 1;
  const asked = [send('/ready'), send('/ready')];
  await vi.waitUntil(() => check.mock.calls.length === 2);
  fail(new Error('away'));
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([503, 503]);
  expect((await send('/ready')).status).toBe(503);
  expect(check).toHaveBeenCalledTimes(2);
  time += 1_000;
  let stored = (): void => {};
  const { write } = store;
  vi.spyOn(store, 'write').mockImplementationOnce(async (records) => {
    await new Promise<void>((resolve) => (stored = resolve));
    return write(records);
  });
  const storing = post('/v1/event', event);
  await vi.waitUntil(() => vi.mocked(store.write).mock.calls.length);
  time += 1_000;
  expect((await send('/ready')).status).toBe(503);
  stored();
  await storing;
  expect((await send('/ready')).status).toBe(200);
  expect(check).toHaveBeenCalledTimes(2);
});

it('is ready again soon after an outage, though the clock is set back by an hour', async () => {
  let time = 10_000_000;
  const { store, send } = runService({ now: () => time });
  vi.spyOn(store, 'check').mockRejectedValueOnce(new Error('away'));
  expect((await send('/ready')).status).toBe(503);
  time -= 3_600_000;
  expect((await send('/ready')).status).toBe(200);
});

it('takes a request within a second after an outage of any length', async () => {
  let time = 1_000_000;
  const service = runFailing({ now: () => time });
  service.fail('away');
  for (let second = 0; second < 600; second += 10) {
    time += 10_000;
    const response = await service.post('/v1/event', event);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  }
  service.mend();
  expect((await service.post('/v1/event', event)).status).toBe(200);
  expect((await service.send('/ready')).status).toBe(200);
});

it('tries one write at a time while the database fails, and has all others wait at once', async () => {
  const { store, service, post } = runService();
  const write = vi.spyOn(store, 'write').mockRejectedValueOnce(new Error('away'));
  expect((await post('/v1/event', event)).status).toBe(503);
  let fail = (): void => {};
  write.mockReturnValueOnce(new Promise((_, reject) => (fail = () => reject(new Error('away')))));
  const tried = post('/v1/event', event);
  await vi.waitUntil(() => write.mock.calls.length === 2);
  for (const response of [await post('/v1/event', event), await post('/v1/batch', {})])
    expect(response.status).toBe(503);
  expect(write).toHaveBeenCalledTimes(2);
  fail();
  expect((await tried).status).toBe(503);
  // Of requests that were read at once, one is written.
  write.mockRejectedValueOnce(new Error('away'));
  const statuses = (await Promise.all([1, 2, 3].map(() => post('/v1/event', event)))).map(
    ({ status }) => status,
  );
  expect(statuses).toEqual([503, 503, 503]);
  expect(write).toHaveBeenCalledTimes(3);
  expect((await post('/v1/event', event)).status).toBe(200);
  expect(await service.health()).toMatchObject({ status: 'ok' });
});

it('tells of reading that fails until it works again, and of no trouble in storing', async () => {
  const service = runFailing();
  const { store, recovered, errors, metrics, send } = service;
  vi.spyOn(store, 'rows').mockRejectedValueOnce(new Error('timeout'));
  vi.spyOn(store, 'counts').mockRejectedValueOnce(new Error('away'));
  expect((await send('/rows?text=rare')).status).toBe(503);
  expect((await send('/counts')).status).toBe(503);
  expect((await send('/setup')).status).toBe(200); // asks no database
  expect((await service.post('/v1/event', event)).status).toBe(200);
  expect(recovered).toEqual([]);
  expect((await send('/counts')).status).toBe(200);
  expect(recovered).toMatchObject([{ kind: 'reading' }]);
  expect(errors).toEqual([{ kind: 'reading', message: 'GET /rows failed: timeout' }]);
  expect(metrics.filter(([name]) => name === 'trouble')).toEqual([]);
});

describe.each(['json', 'ndjson', 'csv', 'sse'])('as %s', (format) => {
  const search = `/rows?text=rare&format=${format}`;

  it('a search that fails is answered 503 with a wait, and told to the operator once', async () => {
    const recovered: unknown[] = [];
    const { store, errors, send } = runService({ onRecovery: ({ kind }) => recovered.push(kind) });
    const { rows, search: look } = store;
    const fail = () => Promise.reject(new Error('timeout'));
    store.rows = (filter, span) => (filter.text ? fail() : rows(filter, span));
    store.search = (filter, ...more) => (filter.text ? fail() : look(filter, ...more));
    for (let n = 0; n < 2; n++) {
      const response = await send(search);
      expect(response.status).toBe(503);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await response.json()).toEqual({ code: 503, message: 'The database did not answer' });
    }
    expect(errors).toEqual([{ kind: 'reading', message: 'GET /rows failed: timeout' }]);
    expect(recovered).toEqual([]);
    await (await send(`/rows?format=${format}`)).body!.cancel();
    expect(recovered).toEqual(['reading']);
  });
});

it.each(['ndjson', 'sse'])('tells of reading that fails later on: %s', async (format) => {
  const { store, errors, send } = runService();
  await store.write(Array.from({ length: 501 }, (_, n) => incomingEvent({ id: `${n}` })));
  const response = await send(`/rows?format=${format}`);
  expect(response.status).toBe(200);
  vi.spyOn(store, 'rows').mockRejectedValue(new Error('away'));
  await store.write([incomingEvent()]);
  if (format === 'sse') await response.text();
  else await expect(response.text()).rejects.toThrow('away');
  expect(errors).toEqual([{ kind: 'reading', message: 'GET /rows failed: away' }]);
});

it('opens the line of a feed after the time of a heartbeat, though its search goes on', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { store, send } = runService();
  const searched = vi.spyOn(store, 'rows').mockReturnValue(new Promise(() => {}));
  const answer = send('/rows?format=sse');
  await vi.waitUntil(() => searched.mock.calls.length);
  await vi.advanceTimersByTimeAsync(15_000);
  const { status, body } = await answer;
  expect(status).toBe(200);
  await body!.cancel();
});

it('keeps a record that the database refuses as a dead letter, and stores it when it is sent again', async () => {
  const path = join(tempFolder(), 'service.db');
  const service = runService({ store: createLibsqlStore({ path }) });
  const mend = refuseRows(path, 'not this one');
  const response = await service.post('/v1/event', { ...event, event: 'bad' });
  expect(response.status).toBe(422);
  expect(await response.json()).toEqual({ code: 422, message: 'Not stored' });
  const [dead] = await service.refused();
  expect(dead).toMatchObject({ reason: 'database', message: 'not this one', isDead: true });
  const resend = async () => {
    const body = JSON.stringify({ seqs: [dead!.seq, 77] });
    return (await service.send('/refused/resend', { method: 'POST', body })).json();
  };
  expect(await resend()).toEqual({
    results: [{ seq: dead!.seq, outcome: 'dead', message: 'not this one' }],
  });
  mend();
  expect(await resend()).toEqual({ results: [{ seq: dead!.seq, outcome: 'stored' }] });
  expect((await service.rows()).map((row) => row.event)).toEqual(['bad']);
  expect(await service.refused()).toEqual([]);
});

it('checks each record of a batch, and writes the good ones in one transaction', async () => {
  const { post, rows, refused, store } = runService({ projects: ['p'] });
  const written = vi.spyOn(store, 'write');
  const of = (id: string, body: object) => ({ id, type: 'event', body }) as const;
  const user = { project: 'p', user_id: 'u', properties: {} };
  const records = [
    of('a', event),
    of('b', { ...event, project: 'q' }),
    of('c', { ...event, tags: 1 }),
    of('a', event),
    { id: 'd', type: 'identify', body: user, called_at: 1 },
  ];
  const response = await post('/v1/batch', { sent_at: 'x', records });
  const { results } = (await response.json()) as BatchAnswer;
  expect(results.map(({ outcome, status }) => `${outcome} ${status}`)).toEqual([
    ...['delivered 200', 'blocked 403', 'rejected 400', 'delivered 200', 'delivered 200'],
  ]);
  expect(written).toHaveBeenCalledTimes(1);
  expect((await rows()).map(({ id, arrivals }) => [id, arrivals])).toEqual([
    ['a', 2],
    ['d', 1],
  ]);
  expect((await rows())[1]!.called_at).toBe('1970-01-01T00:00:00.001Z');
  await vi.waitUntil(async () => (await refused()).length === 2);
  expect((await refused()).map(({ message }) => message)).toEqual([
    expect.stringContaining('"q"'),
    '`tags` must be an object',
  ]);
});
