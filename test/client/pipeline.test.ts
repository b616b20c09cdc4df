import { expect, it, vi } from 'vitest';
import { pass } from '../support/clock.js';
import { openShop } from '../support/shop.js';

it.each([true, false])('flushes what a user does, with a database: %s', async (hasDatabase) => {
  const { visit } = openShop();
  if (!hasDatabase) vi.stubGlobal('indexedDB', undefined);
  const { analytics, track } = visit();
  analytics.identify('user_1');
  track(['Viewed']);
  const flushed = analytics.flush();
  await pass(5_000);
  expect(await flushed).toEqual({ delivered: 2, retried: 0, rejected: 0, waiting: 0 });
});

it.each(['direct', 'by relay'] as const)(
  'sends each event once where `Promise` is as in ES2015 (zone.js 0.8), %s',
  async (way) => {
    class OldPromise<T> extends Promise<T> {}
    for (const name of ['finally', 'allSettled', 'any', 'withResolvers', 'try']) {
      const place = name === 'finally' ? OldPromise.prototype : OldPromise;
      Reflect.defineProperty(place, name, { value: undefined });
    }
    const { receiver, visit } = openShop(way);
    const NewPromise = Promise;
    vi.stubGlobal('Promise', OldPromise);
    const { analytics, track } = visit();
    track(['Viewed']);
    await pass(3_000);
    vi.stubGlobal('Promise', NewPromise); // the runner needs it
    const all = { delivered: 1, waiting: 0, inFlight: 0, storage: 'indexeddb' };
    expect(analytics.status()).toMatchObject(all);
    expect(receiver.requests).toHaveLength(1);
  },
);

it('keeps a call before what a listener makes of it: an identify before the event of its user', async () => {
  const { service, visit } = openShop('by relay');
  const { analytics } = visit();
  analytics.on('record', ({ type }) => {
    if (type === 'identify') analytics.event('Identified');
  });
  analytics.identify('user_1');
  await pass(3_000);
  expect(service.names()).toEqual(['identify user_1', 'Identified']);
});

it('leaves a call to the next page although a listener stops all at it', async () => {
  const shop = openShop();
  const { analytics, track } = shop.visit();
  await pass(100);
  analytics.on('record', () => analytics.stop());
  track(['Viewed']);
  await shop.next();
  await shop.holds(['Viewed']);
});

it('keeps in memory what waits as consent turns to pending where there is no database, and notes nothing', async () => {
  const { site, service, visit, holds } = openShop();
  vi.stubGlobal('indexedDB', undefined);
  service.faults([{ status: 503 }]);
  const { analytics, track } = visit();
  track(['Viewed']);
  await pass(3_000);
  const before = [...site.values.keys()];
  analytics.setConsent('pending');
  expect(analytics.status()).toMatchObject({ waiting: 1 });
  expect([...site.values.keys()]).toEqual(before);
  service.faults([]);
  analytics.setConsent('granted');
  await holds(['Viewed']);
});

it.each([true, false])(
  'leaves what it has stored or noted to the next page as consent turns to pending, with a database: %s',
  async (hasDatabase) => {
    const shop = openShop();
    const { indexedDB } = globalThis;
    if (!hasDatabase) vi.stubGlobal('indexedDB', undefined);
    shop.service.faults([{ status: 503 }]);
    const { analytics, track } = shop.visit();
    track(['Viewed']);
    await pass(3_000);
    if (!hasDatabase) shop.site.hide(); // then it is noted
    analytics.setConsent('pending');
    expect(analytics.status()).toMatchObject({ waiting: 0 });
    vi.stubGlobal('indexedDB', indexedDB);
    shop.service.faults([]);
    const next = await shop.next();
    next.analytics.setConsent('granted');
    await shop.holds(['Viewed']);
  },
);
