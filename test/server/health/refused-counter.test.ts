import { expect, it, vi } from 'vitest';
import type { Health, RefusedCount } from '../../../src/service.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { incomingEvent } from '../support/incoming.js';
import { event, runService } from '../support/run-service.js';

const HOUR_MS = 3_600_000;
/** The counts by reason. */
const counts = async (service: ReturnType<typeof runService>, project = '') => {
  const path = `/counts?by=refused&project=${project}`;
  const { refused } = await service.json<{ refused: RefusedCount[] }>(path);
  const sums: Record<string, number> = {};
  for (const { reason, n } of refused) sums[reason] = (sums[reason] ?? 0) + n;
  return sums;
};

it('counts all that is refused, by reason, though only a part of it is kept to look at', async () => {
  const service = runService({ projects: ['p', 'q'] });
  const added = vi.spyOn(service.store, 'addRefused');
  for (let n = 0; n < 200; n++) await service.post('/v1/event', event, { authorization: null });
  for (let n = 0; n < 40; n++) await service.post('/v1/event', { ...event, tags: 1 });
  const records = ['x', 'p', 'x'].map((project, n) => ({
    ...{ id: `${n}`, type: 'event', body: { ...event, project } },
  }));
  await service.post('/v1/batch', { sent_at: new Date().toISOString(), records });
  const all = { token: 200, field: 40, project: 2 };
  await vi.waitFor(async () => expect(await counts(service)).toEqual(all));
  expect(added.mock.calls.length).toBeLessThan(10);
  expect(await service.store.countRefused()).toBeLessThan(242);
  expect(await counts(service, 'p')).toEqual({ field: 40 });
  const { refused } = await service.json<Health>('/health');
  expect(refused).toMatchObject({ state: 'many', last_hour: 242, usual: 0 });
});

it('counts the records that the database refuses', async () => {
  const service = runService();
  vi.spyOn(service.store, 'write').mockResolvedValue([{ outcome: 'dead', message: 'no' }]);
  await service.post('/v1/event', event);
  await vi.waitFor(async () => expect(await counts(service)).toEqual({ database: 1 }));
});

it('tells projects apart that have rows or a name in the options, and no others', async () => {
  const service = runService({
    readTokens: [{ token: 'a-token-of-the-shop', project: 'shop' }],
    ...{ readToken: 'a-token-of-all-rows' },
  });
  await service.store.write([incomingEvent({}, { project: 'with rows' })]);
  await vi.waitFor(async () => expect(await service.store.counts()).toHaveLength(1));
  const added = vi.spyOn(service.store, 'addRefused');
  const names = ['shop', 'with rows', ...Array.from({ length: 700 }, (_, n) => `invented ${n}`)];
  for (const project of names) await service.post('/v1/event', { project });
  const sums = () => {
    const all = new Map<string, number>();
    for (const { project, n } of added.mock.calls.flatMap(([given]) => given))
      all.set(project, (all.get(project) ?? 0) + n);
    return Object.fromEntries(all);
  };
  await vi.waitFor(() => expect(sums()).toEqual({ shop: 1, 'with rows': 1, '': 700 }));
  const headers = { authorization: 'Bearer a-token-of-the-shop' };
  const of = (project: string) =>
    service.json(`/counts?by=refused${project && `&project=${project}`}`, { headers });
  expect(await of('')).toEqual({ refused: [expect.objectContaining({ n: 1 })] });
  expect(await of('docs')).toMatchObject({ code: 403 });
});

it('writes what was counted while the database was away when it is back, and at the end', async () => {
  const store = createLibsqlStore({ path: ':memory:' });
  const service = runService({ store });
  const add = vi.spyOn(store, 'addRefused').mockRejectedValueOnce(new Error('away'));
  await service.post('/v1/event', {});
  await vi.waitFor(() => expect(add).toHaveBeenCalledTimes(1));
  await service.post('/v1/event', {});
  await vi.waitFor(async () => expect(await counts(service)).toEqual({ field: 2 }));
  await service.post('/v1/event', {});
  const calls = add.mock.calls.length;
  const close = vi.spyOn(store, 'close').mockResolvedValue();
  await service.service.close();
  expect(add).toHaveBeenCalledTimes(calls + 1);
  close.mockRestore();
});

it('says that many are refused by what is usual in an hour of seven days', async () => {
  let time = Date.UTC(2026, 2, 20, 12, 5);
  const service = runService({ now: () => time });
  const days = Array.from({ length: 7 * 24 }, (_, n) => ({
    ...{ hour: new Date(time - (n + 1) * HOUR_MS).toISOString(), project: '' },
    ...({ reason: 'field', n: 10 } as const),
  }));
  await service.store.addRefused(days);
  const refuse = async (count: number) => {
    for (let n = 0; n < count; n++) await service.post('/v1/event', {});
    return (await service.json<Health>('/health')).refused;
  };
  expect(await refuse(30)).toEqual({
    ...{ state: 'usual', last_hour: 30, usual: 10, since: new Date(time).toISOString() },
  });
  expect(await refuse(1)).toMatchObject({ state: 'many', last_hour: 31 });
  time += HOUR_MS;
  const { since, ...later } = await refuse(2);
  expect([since, later]).toMatchObject([undefined, { state: 'usual', last_hour: 2 }]);
});
