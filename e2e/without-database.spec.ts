import type { BrowserContext, Page } from '@playwright/test';
import { breakStorage } from './support/break-storage.js';
import { fillShelf } from './support/fill-shelf.js';
import { laterPage } from './support/later.js';
import { BARE } from './support/leave.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';

/** Characters of an exit note, at the most. */
const ROOM = 262_144;

/** Events of 4 KB each: as much as the outbox keeps. */
const COUNT = 1_000;
/** Where all of them are to arrive: four times what exit notes have room for. */
const FEWER = 250;
const USERS = ['user_1', 'user_2', 'user_3'];

test.beforeEach(({ context }) => breakStorage(context, 'is missing'));

/** Counts what our script writes into localStorage. */
const countWriting = (context: BrowserContext) =>
  context.addInitScript(() => {
    const written = { characters: 0, largest: 0 };
    Object.assign(window, { [Symbol.for('written')]: written });
    const { setItem } = Storage.prototype;
    Storage.prototype.setItem = function (key, value) {
      if (key.startsWith('analytics-outbox ')) {
        written.characters += value.length;
        written.largest = Math.max(written.largest, value.length);
      }
      return setItem.call(this, key, value);
    };
  });
const writtenBy = (page: Page) =>
  page.evaluate(
    () =>
      (window as unknown as Record<symbol, { characters: number; largest: number }>)[
        Symbol.for('written')
      ]!,
  );

/** Identifies, then many events that cannot be sent yet. */
const trackMany = (page: Page, count: number) =>
  page.evaluate(
    ([events, users]) => {
      for (const user of users) analytics.identify(user);
      for (const event of events) {
        analytics.event(event, { description: 'x'.repeat(4_000), userId: null });
      }
    },
    [names(count), USERS] as const,
  );

/** What the page drops while it goes is told to the next page by the tab. */
const tellDrops = (page: Page) =>
  page.evaluate(() => {
    const dropped: string[] = [];
    analytics.on('drop', ({ reason, record }) => {
      const { event = 'identify' } = JSON.parse(record!.body) as { event?: string };
      dropped.push(`${reason} ${event}`);
    });
    document.addEventListener('visibilitychange', () => {
      sessionStorage.setItem('dropped', JSON.stringify(dropped));
    });
  });
const droppedBy = async (page: Page): Promise<string[]> =>
  (await page.evaluate(() => JSON.parse(sessionStorage.getItem('dropped')!) as string[])).map(
    (line) => {
      expect(line).toMatch(/^outbox-full /);
      return line.replace('outbox-full ', '');
    },
  );

const notesOn = (page: Page) =>
  page.evaluate(() =>
    Object.entries(localStorage as Record<string, string>)
      .filter(([key]) => key.includes(' note '))
      .reduce((sum, [key, value]) => sum + key.length + value.length, 0),
  );

const siteStores = (page: Page, characters: number) =>
  page.evaluate((characters) => {
    localStorage.setItem('site', 'x'.repeat(characters));
    localStorage.removeItem('site');
  }, characters);

const see = (page: Page, state: DocumentVisibilityState) =>
  page.evaluate((state) => {
    Object.defineProperty(Document.prototype, 'visibilityState', {
      value: state,
      configurable: true,
    });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

const busy = { status: 503, headers: { 'retry-after': '60' } };

/** The service refuses for now, and many wait. */
const open = async (page: Page, address: string, count = COUNT) => {
  await page.goto(address);
  await page.evaluate(() => analytics.event('first', { description: 'x'.repeat(4_000) }));
  await page.evaluate(() => analytics.flush());
  await expect.poll(() => statusOf(page)).toMatchObject({ paused: 'backoff', inFlight: 0 });
  await trackMany(page, count);
  expect(await statusOf(page)).toMatchObject({
    storage: 'memory',
    waiting: count + 1 + USERS.length,
  });
};

test('leaves the newest to the next page, and tells what it drops', async ({
  page,
  guest,
  service,
  site,
}) => {
  await service.faults([busy]);
  await open(page, site.page('/', site.tagged()));
  await tellDrops(page);
  await page.goto(site.page('/bare', BARE));
  const size = await notesOn(page);
  expect(size).toBeGreaterThan(ROOM / 2);
  expect(size).toBeLessThanOrEqual(ROOM);
  await siteStores(page, 1_000_000);
  const dropped = await droppedBy(page);
  const all = ['first', ...USERS.map(() => 'identify'), ...names(COUNT)];
  expect(dropped.toSorted()).toEqual(all.slice(0, dropped.length).toSorted());
  await service.faults([]);
  await page.goto(laterPage({ guest, site }, '/later'));
  await service.holds({ events: all.slice(dropped.length) }, { pages: [page] });
  await page.goto(site.page('/bare', BARE));
  expect(await notesOn(page)).toBe(0);
});

test('leaves what fits where the site has filled localStorage, and tells the rest', async ({
  page,
  guest,
  service,
  site,
}) => {
  await service.faults([busy]);
  await open(page, site.page('/', site.tagged()));
  await tellDrops(page);
  await page.evaluate(() => sessionStorage.setItem('dropped', '[]'));
  await fillShelf(page);
  // Room for the last few.
  await page.evaluate(() => {
    const key = Object.keys(localStorage).find(
      (key) =>
        localStorage.getItem(key)!.length > 65_000 && localStorage.getItem(key)!.length < 66_000,
    )!;
    localStorage.removeItem(key);
  });
  await page.goto(site.page('/bare', BARE));
  const dropped = await droppedBy(page);
  const all = ['first', ...USERS.map(() => 'identify'), ...names(COUNT)];
  expect(dropped.length).toBeLessThan(all.length);
  await service.faults([]);
  await page.goto(laterPage({ guest, site }, '/later'));
  await service.holds({ events: all.slice(dropped.length) }, { pages: [page] });
});

test('drops nothing and writes little while it lives', async ({ page, context, service, site }) => {
  await countWriting(context);
  const started = performance.now();
  await service.faults([{ ...busy, headers: { 'retry-after': '1' }, times: 1 }]);
  await open(page, site.page('/', site.tagged({ consent: 'granted' })), FEWER);
  await see(page, 'hidden');
  await siteStores(page, 1_000_000);
  await see(page, 'visible');
  await service.holds({ events: ['first', ...names(FEWER)], identifies: USERS }, { pages: [page] });
  expect((await statusOf(page)).dropped).toEqual({});
  const { characters, largest } = await writtenBy(page);
  const seconds = (performance.now() - started) / 1_000;
  expect(largest).toBeLessThanOrEqual(ROOM);
  // One full note a second at the most, and all else is small.
  expect(characters).toBeLessThan((seconds + 2) * ROOM);
});

test('keeps all that waits when consent turns to pending', async ({ page, service, site }) => {
  await service.faults([{ ...busy, headers: { 'retry-after': '1' }, times: 1 }]);
  await open(page, site.page('/', site.tagged()), FEWER);
  await page.evaluate(() => analytics.setConsent('pending'));
  await siteStores(page, 1_000_000);
  expect((await statusOf(page)).dropped).toEqual({});
  await page.evaluate(() => analytics.setConsent('granted'));
  await service.holds({ events: ['first', ...names(FEWER)], identifies: USERS }, { pages: [page] });
});
