import type { Page } from '@playwright/test';
import { emptyShelf, fillShelf } from './support/fill-shelf.js';
import { heard, listening } from './support/heard.js';
import { BARE } from './support/leave.js';
import { names } from './support/names.js';
import { callSecond, createSecond, importsPackage } from './support/second-script.js';
import { RELAY } from './support/relay.js';
import { statusOf } from './support/status-of.js';
import { storedEvents } from './support/stored-records.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';
import { NO_TRACE, traces } from './support/traces.js';
import { track } from './support/track.js';

const setConsent = (page: Page, consent: 'granted' | 'pending' | 'denied') =>
  page.evaluate((consent) => analytics.setConsent(consent), consent);

const identifyAndTrack = async (page: Page) => {
  await page.evaluate(() => analytics.identify('user_1', { plan: 'pro' }));
  return track(page, names(25));
};

test('stores and sends nothing while consent is pending, and delivers what waited for it @relay', async ({
  page,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged({ consent: 'pending' }));
  await page.goto(address);
  await identifyAndTrack(page);
  expect(await page.evaluate(() => analytics.flush())).toMatchObject({ waiting: 26 });
  expect(await traces(page)).toEqual(NO_TRACE);
  await page.goto(site.page('/bare', BARE));
  expect(await traces(page)).toEqual(NO_TRACE);
  expect(await service.requests()).toEqual([]);
  await page.goto(address);
  const times = await identifyAndTrack(page);
  await setConsent(page, 'granted');
  await service.holds({ events: names(25), identifies: ['user_1'] }, { pages: [page] });
  for (const { event, timestamp, user_id } of await service.events()) {
    expect(user_id).toBe('user_1');
    expect(Math.abs(Date.parse(timestamp) - times[event]!)).toBeLessThanOrEqual(250);
  }
});

test('forgets what waits, and clears what is stored, when consent is denied', async ({
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
  const { dropped, unknown, ...rest } = await statusOf(page);
  expect(rest).toMatchObject({ consent: 'denied', waiting: 0, userId: undefined });
  // One may have been in a request, which nobody follows any more.
  expect(dropped['consent-denied']! + unknown).toBe(26);
  await expect.poll(() => storedEvents(page)).toEqual([]);
  await track(page, ['denied']);
  await context.setOffline(false);
  expect((await heard(page, 'drop')).map(({ reason }) => reason)).toEqual(
    Array(27 - unknown).fill('consent-denied'),
  );
  const { local } = await traces(page);
  expect(Object.values(local)).toEqual(['refused']);
  await page.goto(site.page('/next', site.tagged()));
  await track(page, ['next']);
  await service.holds({ events: [], identifies: [] }, { pages: [page] });
  expect(await service.requests()).toEqual([]);
});

test('forgets in the other tab, too', async ({ page, context, service, site }) => {
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

test('a denial counts for two scripts of a page, one of them by relay, and for instances made later', async ({
  page,
  context,
  guest,
  service,
  site,
}) => {
  const options = { relay: RELAY, project: PROJECT, channel: CHANNEL };
  const head = importsPackage(guest);
  await page.goto(site.page('/', site.tagged({}, { head })));
  await createSecond(page, options);
  await context.setOffline(true);
  await track(page, names(5));
  for (const name of names(5, 'second')) await callSecond(page, 'event', [name]);
  await expect.poll(() => storedEvents(page)).toHaveLength(10);
  await setConsent(page, 'denied');
  expect(await callSecond(page, 'status')).toMatchObject({
    consent: 'denied',
    waiting: 0,
    dropped: { 'consent-denied': 5 },
  });
  await createSecond(page, options, 'later');
  await createSecond(page, { ...options, consent: 'pending' }, 'asking');
  for (const name of ['first', 'later', 'asking']) {
    await callSecond(page, 'event', ['denied'], name);
    expect((await callSecond(page, 'status', [], name)).consent).toBe('denied');
  }
  await expect.poll(() => storedEvents(page)).toEqual([]);
  const { local } = await traces(page);
  expect(Object.values(local)).toEqual(['refused']);
  await context.setOffline(false);
  for (const name of ['first', 'later', 'asking']) await callSecond(page, 'flush', [], name);
  await service.holds({ events: [], identifies: [] }, { pages: [page] });
  expect(await service.requests()).toEqual([]);
  expect(site.requests.filter((request) => request.startsWith('POST'))).toEqual([]);
});

test('a denial is remembered though localStorage is full, until consent is granted', async ({
  page,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged({ flushAt: 1 }));
  await page.goto(address);
  await expect.poll(() => statusOf(page)).toMatchObject({ storage: 'indexeddb' });
  await fillShelf(page);
  await setConsent(page, 'denied');
  await page.reload();
  await track(page, names(25));
  await page.evaluate(() => analytics.flush());
  expect(await statusOf(page)).toMatchObject({
    consent: 'denied',
    dropped: { 'consent-denied': 25 },
  });
  await emptyShelf(page);
  await page.reload();
  await track(page, ['denied']);
  await page.evaluate(() => analytics.flush());
  expect(await statusOf(page)).toMatchObject({ consent: 'denied' });
  expect(await storedEvents(page)).toEqual([]);
  await service.holds({ events: [] }, { pages: [page] });
  await setConsent(page, 'granted');
  await page.reload();
  await track(page, ['granted']);
  await service.holds({ events: ['granted'] }, { pages: [page] });
});

test('the user is known for as long as the page lives, though the site clears localStorage, or until a reset in any tab', async ({
  page,
  context,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged());
  const other = await context.newPage();
  await page.goto(address);
  await page.evaluate(() => analytics.identify('user_1'));
  await other.goto(address);
  await page.evaluate(() => localStorage.clear());
  await track(page, ['here']);
  await track(other, ['there']);
  await service.holds({ events: ['here', 'there'] }, { pages: [page, other] });
  expect((await service.events()).map(({ user_id }) => user_id)).toEqual(['user_1', 'user_1']);
  await page.evaluate(() => analytics.identify('user_2'));
  await expect.poll(async () => (await statusOf(other)).userId).toBe('user_2');
  await other.evaluate(() => localStorage.clear());
  await page.evaluate(() => analytics.reset());
  await expect.poll(async () => (await statusOf(other)).userId).toBe(undefined);
  await track(other, ['nobody']);
  await service.holds({ events: ['here', 'there', 'nobody'] }, { pages: [page, other] });
  expect((await service.events()).at(-1)!.user_id).toBe(null);
});
