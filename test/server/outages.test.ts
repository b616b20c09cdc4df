import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createOutageFile } from '../../src/program/outage-file.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import type { Health, Outage } from '../../src/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { event, runService } from './support/run-service.js';

const NOW = Date.UTC(2026, 2, 20, 12);
const iso = (seconds: number): string => new Date(NOW + seconds * 1_000).toISOString();

/** A service over a store that can be away, with a clock that a test sets. */
const run = (path: string, processName: string) => {
  let second = 0;
  const store = createLibsqlStore({ path: ':memory:' });
  const service = runService({
    ...{ store, processName, now: () => NOW + second * 1_000 },
    outageNote: createOutageFile(path),
  });
  const { write, check } = store;
  const away = () => Promise.reject(new Error('away'));
  const sendAt = async (at: number, body: object = event): Promise<number> => {
    second = at;
    return (await service.post('/v1/event', body)).status;
  };
  return {
    ...service,
    sendAt,
    setAway: (isAway: boolean): void =>
      void Object.assign(store, isAway ? { write: away, check: away } : { write, check }),
    ready: async (at: number): Promise<number> => {
      second = at;
      return (await service.send('/ready')).status;
    },
    outages: async () =>
      (await service.json<{ outages: Outage[] }>(`/outages?to=${iso(9_000)}`)).outages,
    health: () => service.json<Health>('/health'),
  };
};
const outage = (from: number, to: number, process = 'web-1') => ({
  ...{ from: iso(from), to: iso(to), process, problem: 'away' },
});

it('becomes a record with the first rows that are stored again, and the rows that came later are counted', async () => {
  const { sendAt, setAway, outages, json } = run(join(tempFolder(), 'outage'), 'web-1');
  await sendAt(1);
  setAway(true);
  for (const at of [10, 20, 30]) expect(await sendAt(at)).toBe(503);
  expect(await outages()).toEqual([]);
  setAway(false);
  for (const at of [9, 11, 189]) {
    expect(await sendAt(190, { ...event, timestamp: iso(at) })).toBe(200);
  }
  await vi.waitFor(async () => expect(await outages()).toEqual([outage(10, 190)]));
  expect(await json(`/outages/later?from=${iso(10)}&to=${iso(190)}`)).toEqual({
    ...{ rows: 2, is_all: true },
  });
});

it('ends when the database works again, though no row comes for hours', async () => {
  const { sendAt, setAway, ready, outages } = run(join(tempFolder(), 'outage'), 'web-1');
  setAway(true);
  expect(await ready(10)).toBe(503);
  setAway(false);
  expect(await ready(60)).toBe(200);
  expect(await outages()).toEqual([]);
  // It is the same one, if no rows were stored between.
  setAway(true);
  expect(await ready(70)).toBe(503);
  setAway(false);
  expect(await ready(80)).toBe(200);
  expect(await sendAt(5_000)).toBe(200);
  await vi.waitFor(async () => expect(await outages()).toEqual([outage(10, 80)]));
  setAway(true);
  await sendAt(5_010);
  setAway(false);
  await sendAt(5_020);
  await vi.waitFor(async () =>
    expect(await outages()).toEqual([outage(10, 80), outage(5_010, 5_020)]),
  );
});

it('outlives the process, in a file that is as large from the start', async () => {
  const path = join(tempFolder(), 'outage');
  const killed = run(path, 'web-1');
  expect([statSync(path).size, statSync(path).mode & 0o777]).toEqual([4_096, 0o600]);
  killed.setAway(true);
  await killed.sendAt(10);
  await vi.waitFor(() => expect(readFileSync(path, 'utf8')).toContain(iso(10)));
  expect(statSync(path).size).toBe(4_096);

  const next = run(path, 'web-2');
  next.setAway(true);
  await next.sendAt(100);
  expect((await next.health()).storing).toMatchObject({ state: 'failing', since: iso(10) });
  next.setAway(false);
  await next.sendAt(200);
  await vi.waitFor(async () => expect(await next.outages()).toEqual([outage(10, 200)]));
  await vi.waitFor(() => expect(readFileSync(path, 'utf8').trim()).toBe(''));
});

it('is kept until the database has taken it, and in memory where no file can be made', async () => {
  const path = join(tempFolder(), 'no folder', 'outage');
  const { store, sendAt, setAway, outages } = run(path, 'web-1');
  const add = vi.spyOn(store, 'addOutage').mockRejectedValueOnce(new Error('away'));
  onTestFinished(() => add.mockRestore());
  setAway(true);
  await sendAt(10);
  setAway(false);
  await sendAt(20);
  await vi.waitFor(() => expect(add).toHaveBeenCalledTimes(1));
  await sendAt(30);
  await vi.waitFor(async () => expect(await outages()).toEqual([outage(10, 20)]));
  expect(existsSync(path)).toBe(false);
});
