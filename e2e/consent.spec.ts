import type { Page } from '@playwright/test';
import { heard, listening } from './support/heard.js';
import { BARE } from './support/leave.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { storedEvents } from './support/stored-records.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

/** What the page's site has stored in this browser. */
const traces = (page: Page) =>
  page.evaluate(async () => ({
    local: { ...localStorage },
    session: { ...sessionStorage },
    databases: (await indexedDB.databases()).map(({ name }) => name),
    cookies: document.cookie,
    caches: await caches.keys(),
  }));
const NO_TRACE = { local: {}, session: {}, databases: [], cookies: '', caches: [] };

const setConsent = (page: Page, consent: 'granted' | 'pending' | 'denied') =>
  page.evaluate((consent) => analytics.setConsent(consent), consent);

const identifyAndTrack = async (page: Page) => {
  await page.evaluate(() => analytics.identify('user_1', { plan: 'pro' }));
  return track(page, names(25));
};

test('stores nothing and sends nothing while consent is pending', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ consent: 'pending' })));
  await identifyAndTrack(page);
  expect(await page.evaluate(() => analytics.flush())).toMatchObject({ waiting: 26 });
  await page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
  expect(await traces(page)).toEqual(NO_TRACE);
  await page.goto(site.page('/bare', BARE));
  expect(await traces(page)).toEqual(NO_TRACE);
  await service.holds({ events: [], identifies: [] });
  expect(await service.requests()).toEqual([]);
});

test('delivers what waited for consent, with the times of the calls @relay', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ consent: 'pending' })));
  const times = await identifyAndTrack(page);
  expect(await statusOf(page)).toMatchObject({
    consent: 'pending',
    storage: 'none',
    paused: 'consent',
    waiting: 26,
    userId: 'user_1',
  });
  // Long enough after the calls to tell the times apart.
  await expect.poll(() => Date.now() - times['event 24']!).toBeGreaterThan(300);
  await setConsent(page, 'granted');
  await service.holds({ events: names(25), identifies: ['user_1'] }, { pages: [page] });
  for (const { event, timestamp, user_id } of await service.events()) {
    expect(user_id).toBe('user_1');
    expect(Math.abs(Date.parse(timestamp) - times[event]!)).toBeLessThanOrEqual(25);
  }
  // The user is kept from now on.
  await page.goto(site.page('/next', site.tagged()));
  await track(page, ['next']);
  await service.holds({ events: [...names(25), 'next'] }, { pages: [page] });
  expect((await service.events()).at(-1)!.user_id).toBe('user_1');
});

test('forgets what waits, and clears what is stored, when consent is denied @relay', async ({
  page,
  context,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  await context.setOffline(true);
  await identifyAndTrack(page);
  await expect.poll(() => storedEvents(page)).toHaveLength(26);
  await setConsent(page, 'denied');
  expect(await statusOf(page)).toMatchObject({
    consent: 'denied',
    waiting: 0,
    userId: undefined,
    dropped: { 'consent-denied': 26 },
  });
  await expect.poll(() => storedEvents(page)).toEqual([]);
  await track(page, ['denied']);
  await context.setOffline(false);
  expect((await heard(page, 'drop')).map(({ reason }) => reason)).toEqual(
    Array(27).fill('consent-denied'),
  );
  const { local } = await traces(page);
  expect(Object.values(local)).toEqual(['denied']);
  await page.goto(site.page('/next', site.tagged()));
  await track(page, ['next']);
  await service.holds({ events: [], identifies: [] }, { pages: [page] });
  expect(await service.requests()).toEqual([]);
});

test('gives up what is in flight when consent is denied', async ({ page, service, site }) => {
  await page.goto(site.page('/', site.tagged()));
  await service.faults([{ hang: true }]);
  await track(page, names(25));
  await expect.poll(async () => (await service.requests()).length).toBe(6);
  await setConsent(page, 'denied');
  await service.faults([]);
  await page.reload();
  await service.holds({ events: [], identifies: [] }, { pages: [page] });
  expect(await service.requests()).toHaveLength(6);
});

test('forgets in the other tab, too @relay', async ({ page, context, service, site }) => {
  const address = site.page('/', site.tagged({}, listening));
  const other = await context.newPage();
  await page.goto(address);
  await other.goto(address);
  await context.setOffline(true);
  await track(page, names(5, 'here'));
  await track(other, names(5, 'there'));
  await expect.poll(() => storedEvents(page)).toHaveLength(10);
  await setConsent(page, 'denied');
  await expect.poll(() => other.evaluate(() => analytics.status().consent)).toBe('denied');
  expect(await statusOf(other)).toMatchObject({
    waiting: 0,
    dropped: { 'consent-denied': 5 },
  });
  await expect.poll(() => storedEvents(other)).toEqual([]);
  await context.setOffline(false);
  await service.holds({ events: [] }, { pages: [page, other] });
  expect(await service.requests()).toEqual([]);
});

test('remembers a denial until consent is granted', async ({ page, service, site }) => {
  const address = site.page('/', site.tagged());
  await page.goto(address);
  await setConsent(page, 'denied');
  await page.reload();
  await track(page, ['denied']);
  expect(await statusOf(page)).toMatchObject({
    consent: 'denied',
    dropped: { 'consent-denied': 1 },
  });
  await setConsent(page, 'granted');
  await track(page, ['granted']);
  await page.reload();
  await track(page, ['remembered']);
  await service.holds({ events: ['granted', 'remembered'] }, { pages: [page] });
});

test('sends nothing made before a denial when consent comes back', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ consent: 'pending' })));
  await track(page, names(5));
  await setConsent(page, 'denied');
  await track(page, ['denied']);
  await setConsent(page, 'granted');
  await track(page, ['granted']);
  await service.holds({ events: ['granted'] }, { pages: [page] });
});

test('keeps for later what is stored when consent turns to pending @relay', async ({
  page,
  context,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged()));
  await context.setOffline(true);
  await track(page, names(5));
  await expect.poll(() => storedEvents(page)).toHaveLength(5);
  await setConsent(page, 'pending');
  await context.setOffline(false);
  await track(page, ['pending']);
  await page.evaluate(() => analytics.flush());
  expect(await service.requests()).toEqual([]);
  await setConsent(page, 'granted');
  await service.holds({ events: [...names(5), 'pending'] }, { pages: [page] });
});
