import { expect, it, vi } from 'vitest';
import type { Health } from '../../src/service.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { incomingEvent } from './support/incoming.js';
import { caughtUp, patient } from './support/patient.js';
import { readEvents } from './support/read-events.js';
import { event, runService } from './support/run-service.js';

const NOW = Date.UTC(2026, 2, 20, 12);
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
const iso = (ms: number): string => new Date(ms).toISOString();

/** A service with a clock that a test sets. */
const runAt = (options: Parameters<typeof runService>[0] = {}) => {
  let time = NOW;
  const store = patient(createLibsqlStore({ path: ':memory:' }));
  const service = runService({ store, now: () => time, processName: 'web-1', ...options });
  return {
    ...service,
    store,
    pass: (ms: number): void => void (time += ms),
    health: () => service.json<Health>('/health'),
  };
};

it('says that rows are stored by the last write of rows alone, and since when they are not', async () => {
  const { store, post, send, health, pass } = runAt();
  expect(await health()).toMatchObject({
    ...{ status: 'ok', process: 'web-1', targets: [] },
    storing: { state: 'untried', since: iso(NOW) },
  });
  await post('/v1/event', event);
  expect((await health()).storing).toEqual({ state: 'ok', last: iso(NOW) });

  pass(MINUTE_MS);
  const write = vi.spyOn(store, 'write').mockRejectedValue(new Error('the disk is full'));
  await post('/v1/event', event);
  pass(5_000);
  await post('/v1/event', event);
  const failing = {
    ...{ state: 'failing', problem: 'the disk is full' },
    ...{ since: iso(NOW + MINUTE_MS), last: iso(NOW) },
  };
  const answer = await send('/health');
  expect(answer.status).toBe(503);

  // What asks whether the database works may find that it does, and that shows nothing of rows.
  const check = vi.spyOn(store, 'check').mockRejectedValue(new Error('the disk is full'));
  pass(5_000);
  expect(await health()).toMatchObject({ status: 'failing', storing: failing });
  check.mockRestore();
  pass(5_000);
  expect(await health()).toMatchObject({
    ...{ status: 'ok', storing: { state: 'untried', since: iso(NOW + MINUTE_MS + 15_000) } },
  });
  write.mockRestore();
  await post('/v1/event', event);
  expect((await health()).storing.state).toBe('ok');
});

it('says that rows which the database refuses are not stored rows', async () => {
  const { store, post, health } = runAt();
  vi.spyOn(store, 'write').mockResolvedValue([{ outcome: 'dead', message: 'no' }]);
  await post('/v1/event', event);
  expect((await health()).storing.state).toBe('untried');
});

it('says that a disk without room is full, though no row was tried, and how much room there is', async () => {
  const { store, post, health, pass } = runAt();
  const room = vi.spyOn(store, 'room').mockResolvedValue({ free: 0, size: 250_000 });
  await post('/v1/event', event);
  // SQLite may write over its log for a while.
  pass(10_000);
  expect((await health()).storing).toMatchObject({ state: 'ok', room: { free: 0 } });
  pass(MINUTE_MS);
  expect((await health()).storing).toMatchObject({
    ...{ state: 'failing', problem: expect.stringContaining('the disk is full') },
  });
  room.mockResolvedValue({ free: 200_000, size: 250_000 });
  pass(2_000);
  expect((await health()).storing).toMatchObject({
    ...{ state: 'untried', room: { free: 200_000, size: 250_000 } },
  });
});

it('answers while the database does not, with what it knew', async () => {
  const { store, post, health, pass } = runAt();
  await post('/v1/event', event);
  const before = await health();
  const never = () => new Promise<never>(() => {});
  Object.assign(store, { rows: never, hours: never, check: never, room: never, write: never });
  Object.assign(store, { progress: { ...store.progress, targets: never } });
  pass(MINUTE_MS);
  expect((await health()).arriving).toEqual(before.arriving);
});

/** Two weeks of a site with 60 rows an hour, up to some time before now. */
const rowsUntil = (endMs: number, project = 'p') => {
  const records = [];
  for (let at = NOW - 14 * 24 * HOUR_MS; at <= endMs; at += 10 * MINUTE_MS)
    for (let n = 0; n < 10; n++)
      records.push(
        incomingEvent({ id: `${project}-${at}-${n}`, receivedAt: iso(at) }, { project }),
      );
  return records;
};

it('says that rows arrive as usual, and that they do not, of all projects and of one', async () => {
  const token = 'a-token-of-the-shop';
  const { store, json, health, pass } = runAt({
    ...{ readToken: 'a-token-of-all-rows', readTokens: [{ token, project: 'shop' }] },
  });
  const of = async (bearer: string) =>
    (await json<Health>('/health', { headers: { authorization: `Bearer ${bearer}` } })).arriving;
  const [all, shop] = [() => of('a-token-of-all-rows'), () => of(token)];
  expect((await all()).state).toBe('learning');
  for (const records of [rowsUntil(NOW - 50 * MINUTE_MS, 'shop'), rowsUntil(NOW, 'docs')])
    await store.write(records);
  await caughtUp(store);
  pass(10_000);
  const silent = { state: 'silent', usual: 60, last: iso(NOW - 50 * MINUTE_MS) };
  expect(await shop()).toEqual(silent);
  // Others are busy, and do not hide it.
  expect(await all()).toEqual({ ...silent, project: 'shop' });
  await store.write([
    incomingEvent({ id: 'again', receivedAt: iso(NOW + 10_000) }, { project: 'shop' }),
  ]);
  pass(15_000);
  expect((await shop()).state).toBe('usual');
  expect(await all()).toEqual({ state: 'usual', usual: 120, last: iso(NOW + 10_000) });
  pass(30 * MINUTE_MS);
  expect([(await all()).state, (await shop()).state]).toEqual(['silent', 'silent']);
  expect((await health()) as unknown).toMatchObject({ code: 401 });
});

it('tells a token of one project of it alone: whether rows are stored, and whether they arrive', async () => {
  const token = 'a-token-of-the-shop';
  const { store, send, post } = runAt({ readTokens: [{ token, project: 'shop' }] });
  vi.spyOn(store, 'write').mockRejectedValue(new Error('/var/lib/rows.db is full'));
  await post('/v1/event', event);
  vi.spyOn(store, 'check').mockRejectedValue(new Error('/var/lib/rows.db is full'));
  const headers = { authorization: `Bearer ${token}` };
  const known = await send('/health', { headers });
  const feed = await readEvents(await send('/rows?format=sse', { headers }));
  await feed.until((seen) => seen.some(({ name }) => name === 'health'));
  const told = [await known.json(), feed.seen.find(({ name }) => name === 'health')!.data];
  for (const one of told)
    expect(one).toEqual({
      ...{ status: 'failing', process: 'web-1', arriving: { state: 'learning' } },
      storing: { state: 'failing', since: iso(NOW) },
    });
  await feed.cancel();
});

it('tells each follower every 2 seconds that it is alive, and at once what has changed', async () => {
  const { store, send, post } = runAt();
  await post('/v1/event', event);
  const feed = await readEvents(await send('/rows?format=sse'));
  const states = () =>
    feed.seen
      .filter(({ name }) => name === 'health')
      .map(({ data }) => (data as unknown as Health).storing.state);
  await feed.until(() => states().includes('ok'));
  expect(feed.seen.find(({ name }) => name === 'health')!.id).toBe('');
  vi.spyOn(store, 'write').mockRejectedValue(new Error('away'));
  await post('/v1/event', event);
  const from = performance.now();
  await feed.until(() => states().includes('failing'));
  expect(performance.now() - from).toBeLessThan(5_000);
  await feed.cancel();
});
