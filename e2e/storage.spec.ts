import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { breakStorage } from './support/break-storage.js';
import { heard, listening } from './support/heard.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { storedEvents } from './support/stored-records.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const storageOf = (page: Page) => page.evaluate(() => analytics.status().storage);

test('delivers from memory, and says so, where the database never completes @relay', async ({
  page,
  context,
  service,
  site,
}) => {
  await breakStorage(context, 'never completes');
  await page.goto(site.page('/', site.tagged({}, listening)));
  const [called] = Object.values(await track(page, names(10)));
  await service.holds({ events: names(10) }, { pages: [page] });
  await expect.poll(() => storageOf(page)).toBe('memory');
  expect(await heard(page, 'storage')).toContainEqual({
    storage: 'memory',
    message: expect.stringMatching(/./),
  });
  // The first send never waits for the storage.
  for (const { received_at } of await service.events()) {
    expect(Date.parse(received_at) - called!).toBeLessThan(2_500);
  }
});

test.describe('where IndexedDB is taken away from a page that uses it', () => {
  const remember = () => {
    const { open } = IDBFactory.prototype;
    IDBFactory.prototype.open = function (...args) {
      const request = open.apply(this, args);
      request.addEventListener('success', () => {
        (window as unknown as Record<symbol, IDBDatabase>)[Symbol.for('opened')] = request.result;
      });
      return request;
    };
  };

  const takeAway: Record<string, (page: Page, origin: string) => Promise<unknown>> = {
    'by closing the connection': (page) =>
      page.evaluate(() => {
        const opened = (window as unknown as Record<symbol, IDBDatabase>)[Symbol.for('opened')]!;
        opened.close();
      }),
    'by deleting the database': (page) =>
      page.evaluate(async () => {
        for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name!);
      }),
    'by clearing the site’s data': async (page, origin) => {
      const session = await page.context().newCDPSession(page);
      await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
    },
  };

  for (const [how, take] of Object.entries(takeAway)) {
    test(`goes on ${how.replace('by', 'after')}, and keeps what waits`, async ({
      page,
      context,
      service,
      site,
    }) => {
      await context.addInitScript(remember);
      await page.clock.install();
      await page.goto(site.page('/', site.tagged({}, listening)));
      await track(page, ['first']);
      await service.holds({ events: ['first'] }, { pages: [page] });
      await context.setOffline(true);
      await track(page, names(5, 'before'));
      await expect.poll(() => storedEvents(page)).toHaveLength(5);
      await take(page, site.url);
      await track(page, names(5, 'after'));
      await context.setOffline(false);
      const events = ['first', ...names(5, 'before'), ...names(5, 'after')];
      await service.holds({ events }, { pages: [page] });
      // Opened again in a while: it is no page that never had any.
      await page.clock.fastForward(10_000);
      await expect.poll(() => storageOf(page)).toBe('indexeddb');
      await track(page, ['last']);
      await service.holds({ events: [...events, 'last'] }, { pages: [page] });
      await page.reload();
      await service.holds({ events: [...events, 'last'] }, { pages: [page] });
      expect(await service.requests()).toHaveLength(12);
    });
  }

  test('keeps what waits through the next page, too', async ({ page, context, service, site }) => {
    await context.addInitScript(remember);
    await page.goto(site.page('/', site.tagged({}, listening)));
    await context.setOffline(true);
    await track(page, names(5, 'before'));
    await expect.poll(() => storedEvents(page)).toHaveLength(5);
    await takeAway['by closing the connection']!(page, site.url);
    await track(page, names(5, 'after'));
    await page.goto('about:blank');
    await context.setOffline(false);
    await page.goto(site.page('/next', site.tagged()));
    await service.holds(
      { events: [...names(5, 'before'), ...names(5, 'after')] },
      { pages: [page] },
    );
  });
});

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

test.describe('where the site deletes the database', () => {
  const deleteAll = (page: Page) =>
    page.evaluate(async () => {
      const outcomes: string[] = [];
      for (const { name } of await indexedDB.databases()) {
        const request = indexedDB.deleteDatabase(name!);
        outcomes.push(
          await new Promise<string>((resolve) => {
            request.onsuccess = () => resolve('deleted');
            request.onblocked = () => resolve('blocked');
          }),
        );
      }
      return outcomes;
    });

  test('nothing blocks it, and the page goes on', async ({ page, context, service, site }) => {
    await page.goto(site.page('/', site.tagged({}, listening)));
    await track(page, ['first']);
    await service.holds({ events: ['first'] }, { pages: [page] });
    await context.setOffline(true);
    await track(page, names(5, 'before'));
    await expect.poll(() => storedEvents(page)).toHaveLength(5);
    expect(await deleteAll(page)).toEqual(['deleted']);
    await track(page, names(5, 'after'));
    // Opened again, and what waits is written again.
    const waiting = [...names(5, 'before'), ...names(5, 'after')];
    await expect
      .poll(async () => (await storedEvents(page)).toSorted())
      .toEqual(waiting.toSorted());
    expect(await storageOf(page)).toBe('indexeddb');
    expect(await deleteAll(page)).toEqual(['deleted']);
    await context.setOffline(false);
    await service.holds({ events: ['first', ...waiting] }, { pages: [page] });
    await page.reload();
    await service.holds({ events: ['first', ...waiting] }, { pages: [page] });
  });

  test('the code of the page about privacy wipes all that is left after a denial', async ({
    page,
    context,
    service,
    site,
  }) => {
    const text = readFileSync(new URL('../docs/privacy.md', import.meta.url), 'utf8');
    const [code] = /(?<=```js\n)for \(const key of Object\.keys\(localStorage\)\)[^`]+/.exec(text)!;
    const address = site.page('/', site.tagged());
    const other = await context.newPage();
    await page.goto(address);
    await other.goto(address);
    await page.evaluate(() => analytics.identify('user_1'));
    await track(other, names(5));
    await service.holds({ events: names(5), identifies: ['user_1'] }, { pages: [page, other] });
    await page.evaluate(() => analytics.setConsent('denied'));
    await expect.poll(async () => (await statusOf(other)).consent).toBe('denied');
    const left = () =>
      page.evaluate(async () => [
        Object.keys(localStorage),
        (await indexedDB.databases()).map(({ name }) => name),
      ]);
    await expect.poll(() => page.evaluate(() => Object.values(localStorage))).toEqual(['refused']);
    await page.evaluate(`(async () => { ${code} })()`);
    await expect.poll(left).toEqual([[], []]);
    await track(page, ['denied']);
    await track(other, ['denied']);
    expect(await left()).toEqual([[], []]);
  });
});
