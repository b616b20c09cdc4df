import type { Page } from '@playwright/test';
import { emptyShelf, fillShelf } from './support/fill-shelf.js';
import { heard, listening } from './support/heard.js';
import { BARE } from './support/leave.js';
import { names } from './support/names.js';
import { callSecond, createSecond, importsPackage } from './support/second-script.js';
import { setupOf } from './support/setup-of.js';
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
  await expect.poll(() => Date.now() - times['event 24']!).toBeGreaterThan(600);
  await setConsent(page, 'granted');
  await service.holds({ events: names(25), identifies: ['user_1'] }, { pages: [page] });
  for (const { event, timestamp, user_id } of await service.events()) {
    expect(user_id).toBe('user_1');
    expect(Math.abs(Date.parse(timestamp) - times[event]!)).toBeLessThanOrEqual(250);
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

test.describe('where two scripts are on one page', () => {
  const consentOf = async (page: Page, name?: string) =>
    (await callSecond(page, 'status', [], name)).consent;

  /** The same destination again; and as in the move to a relay, where old pages still send directly. */
  const ways = {
    'to one destination': (service: { url: string; token: string }) => ({
      baseUrl: service.url,
      token: service.token,
    }),
    'one of them to a relay': () => ({ relay: '/a' }),
  };

  for (const [how, way] of Object.entries(ways)) {
    test(`a denial counts for both, and for instances made later, ${how}`, async ({
      page,
      context,
      guest,
      service,
      site,
    }) => {
      const options = { ...way(service), project: PROJECT, channel: CHANNEL };
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
        expect(await consentOf(page, name)).toBe('denied');
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
  }

  test('both wait while consent is pending, and go on with it, whichever is told', async ({
    page,
    guest,
    service,
    site,
  }) => {
    const options = setupOf(service);
    const head = importsPackage(guest);
    await page.goto(site.page('/', site.tagged({ consent: 'pending' }, { head })));
    await createSecond(page, options);
    await track(page, ['one']);
    await callSecond(page, 'event', ['two']);
    expect(await callSecond(page, 'flush')).toMatchObject({ waiting: 1 });
    expect(await traces(page)).toEqual(NO_TRACE);
    expect(await service.requests()).toEqual([]);
    await callSecond(page, 'setConsent', ['granted']);
    await service.holds({ events: ['one', 'two'] }, { pages: [page] });
    await createSecond(page, { ...options, consent: 'pending' }, 'later');
    expect(await consentOf(page, 'later')).toBe('granted');
    await callSecond(page, 'setConsent', ['pending'], 'later');
    await track(page, ['three']);
    expect(await statusOf(page)).toMatchObject({ consent: 'pending', waiting: 1 });
    await setConsent(page, 'granted');
    await service.holds({ events: ['one', 'two', 'three'] }, { pages: [page] });
  });

  test('another project has a consent of its own', async ({ page, guest, service, site }) => {
    const head = importsPackage(guest);
    await page.goto(site.page('/', site.tagged({}, { head })));
    const { url: baseUrl, token } = service;
    await createSecond(page, { baseUrl, token, project: 'other', channel: CHANNEL });
    await setConsent(page, 'denied');
    await track(page, ['denied']);
    await callSecond(page, 'event', ['granted']);
    await service.holds({ events: ['granted'] }, { pages: [page] });
  });
});

test.describe('where localStorage is full', () => {
  test('a denial is remembered all the same, until consent is granted @relay', async ({
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

  for (const user of ['user_2', 'somebody_with_a_longer_name']) {
    test(`no event goes to a former user once ${user} is identified @relay`, async ({
      page,
      service,
      site,
    }) => {
      const address = site.page('/', site.tagged());
      await page.goto(address);
      await page.evaluate(() => analytics.identify('user_1'));
      await fillShelf(page);
      await page.evaluate((user) => analytics.identify(user), user);
      await track(page, ['here']);
      await service.holds({ events: ['here'], identifies: ['user_1', user] }, { pages: [page] });
      await page.reload();
      await track(page, ['next']);
      await service.holds({ events: ['here', 'next'] }, { pages: [page] });
      const users = (await service.events()).map(({ user_id }) => user_id);
      expect(users[0]).toBe(user);
      // Where there is no room for the new name, nobody is known on the next page.
      expect(users[1]).toBe(user.length > 'user_1'.length ? null : user);
    });
  }
});

test.describe('where the site clears localStorage', () => {
  const clear = (page: Page) => page.evaluate(() => localStorage.clear());
  const userOf = async (page: Page) => (await statusOf(page)).userId;

  test('the user is known for as long as the page lives, or until a reset in any tab', async ({
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
    await clear(page);
    await track(page, ['here']);
    await track(other, ['there']);
    await service.holds({ events: ['here', 'there'] }, { pages: [page, other] });
    expect((await service.events()).map(({ user_id }) => user_id)).toEqual(['user_1', 'user_1']);
    await page.evaluate(() => analytics.identify('user_2'));
    await expect.poll(() => userOf(other)).toBe('user_2');
    await clear(other);
    await page.evaluate(() => analytics.reset());
    await expect.poll(() => userOf(other)).toBe(undefined);
    await track(other, ['nobody']);
    await service.holds({ events: ['here', 'there', 'nobody'] }, { pages: [page, other] });
    expect((await service.events()).at(-1)!.user_id).toBe(null);
  });

  test('the service is left alone for as long as it has asked', async ({ page, service, site }) => {
    await page.goto(site.page('/', site.tagged({ flushAt: 1 }, listening)));
    await service.faults([{ status: 503, headers: { 'retry-after': '60' } }]);
    await track(page, ['first']);
    await expect.poll(() => statusOf(page)).toMatchObject({ paused: 'backoff' });
    const before = (await service.requests()).length;
    await service.faults([]);
    await clear(page);
    await track(page, names(25));
    const { waiting } = await page.evaluate(() => analytics.flush());
    expect(waiting).toBe(26);
    expect(await statusOf(page)).toMatchObject({ paused: 'backoff', waiting: 26 });
    expect(await service.requests()).toHaveLength(before);
  });
});
