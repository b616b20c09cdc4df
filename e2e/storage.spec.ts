import type { Page } from '@playwright/test';
import { heard, listening } from './support/heard.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { storedEvents } from './support/stored-records.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const storageOf = async (page: Page) => (await statusOf(page)).storage;

/** Keeps the database that the page opens. */
const keepOpened = (): void => {
  const { open } = IDBFactory.prototype;
  IDBFactory.prototype.open = function (...args) {
    const request = open.apply(this, args);
    request.addEventListener('success', () => {
      (window as unknown as Record<symbol, IDBDatabase>)[Symbol.for('opened')] = request.result;
    });
    return request;
  };
};

const TAKE_AWAY: Record<string, (page: Page, origin: string) => Promise<unknown>> = {
  'its connection is closed': (page) =>
    page.evaluate(() =>
      (window as unknown as Record<symbol, IDBDatabase>)[Symbol.for('opened')]!.close(),
    ),
  'the site deletes it, which nothing blocks': async (page) => {
    const outcomes = await page.evaluate(async () => {
      const requests = (await indexedDB.databases()).map(({ name }) =>
        indexedDB.deleteDatabase(name!),
      );
      const outcomeOf = (request: IDBOpenDBRequest) =>
        new Promise<string>((resolve) => {
          request.onsuccess = () => resolve('deleted');
          request.onblocked = () => resolve('blocked');
        });
      return Promise.all(requests.map(outcomeOf));
    });
    expect(outcomes).toEqual(['deleted']);
  },
  'the site’s data is cleared': async (page, origin) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
  },
};

for (const [how, take] of Object.entries(TAKE_AWAY)) {
  test(`goes on with its database, and keeps what waits, after ${how}`, async ({
    page,
    context,
    service,
    site,
  }) => {
    await context.addInitScript(keepOpened);
    await page.clock.install();
    await page.goto(site.page('/', site.tagged({}, listening)));
    await context.setOffline(true);
    await track(page, names(5, 'before'));
    await expect.poll(() => storedEvents(page)).toHaveLength(5);
    await take(page, site.url);
    await track(page, names(5, 'after'));
    await context.setOffline(false);
    const events = [...names(5, 'before'), ...names(5, 'after')];
    await service.holds({ events }, { pages: [page] });
    // Opened again in a while: it is no page that never had any.
    await page.clock.fastForward(10_000);
    await expect.poll(() => storageOf(page)).toBe('indexeddb');
    await track(page, ['last']);
    await page.reload();
    await service.holds({ events: [...events, 'last'] }, { pages: [page] });
    expect(await service.requests()).toHaveLength(11);
  });
}

test('delivers from memory where the quota is used up', async ({
  page,
  context,
  service,
  site,
}) => {
  const session = await context.newCDPSession(page);
  await session.send('Storage.overrideQuotaForOrigin', { origin: site.url, quotaSize: 1 });
  await page.goto(site.page('/', site.tagged({}, listening)));
  await track(page, names(10));
  await service.holds({ events: names(10) }, { pages: [page] });
  await expect.poll(() => storageOf(page)).toBe('memory');
  expect((await heard(page, 'storage')).map(({ storage }) => storage)).toContain('memory');
});
