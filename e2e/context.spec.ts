import type { Page } from '@playwright/test';
import { contextPage, openReady } from './support/context-page.js';
import { lastShown, tellsLastShown } from './support/last-shown.js';
import { BARE } from './support/leave.js';
import { setupOf } from './support/setup-of.js';
import { expect, test } from './support/test.js';
import { traces } from './support/traces.js';
import { track } from './support/track.js';

test('page, campaign and device give their tags; the campaign stays in the tab @firefox', async ({
  page,
  guest,
  service,
  site,
}) => {
  const parts = `combine(analytics, page(), campaign(), device())`;
  const address = contextPage({ guest, site }, setupOf(service), { parts });
  await openReady(page, `${address}?utm_source=news&gclid=g1&secret=1`);
  await track(page, ['one']);
  await openReady(page, address);
  await track(page, ['two']);
  await openReady(page, `${address}?utm_source=ads`);
  await track(page, ['three']);
  await service.holds({ events: ['one', 'two', 'three'] }, { pages: [page] });
  const { width, language } = await page.evaluate(() => ({
    width: innerWidth,
    language: navigator.language,
  }));
  const here = { path: '/', title: 'A page', device: 'desktop', width, language };
  const first = { first_utm_source: 'news', first_gclid: 'g1' };
  const tags = (await service.events()).map(({ event, tags }) => [event, tags] as const);
  expect(Object.fromEntries(tags)).toEqual({
    one: { ...here, ...first, utm_source: 'news', gclid: 'g1' },
    two: { ...here, ...first, utm_source: 'news', gclid: 'g1' },
    three: { ...here, ...first, utm_source: 'ads' },
  });
  const { local, session } = await traces(page);
  expect(Object.keys(session)).toEqual(['analytics-outbox campaign']);
  expect(Object.keys(local).filter((key) => /campaign|session|visitor/.test(key))).toEqual([]);
});

const TABS = 6;
const EVENTS = 25;

test('busy tabs that are opened at once share one anonymous id and one session', async ({
  context,
  guest,
  service,
  site,
}) => {
  const parts = `combine(analytics, session('persistent'), anonymousId('persistent'))`;
  const address = contextPage({ guest, site }, setupOf(service), { parts });
  const first = await context.newPage();
  await openReady(first, address);
  await track(first, ['first']);
  const tabs = await Promise.all(Array.from({ length: TABS }, () => context.newPage()));
  const beBusy = async (tab: Page) => {
    await openReady(tab, address);
    // With pauses as short as a busy page has: other tabs' changes of storage come between.
    await tab.evaluate(async (events) => {
      for (let event = 0; event < events; event++) {
        analytics.event('busy');
        await new Promise((done) => setTimeout(done, Math.random() * 8));
      }
    }, EVENTS);
  };
  await Promise.all(tabs.map(beBusy));
  await service.holds({ events: ['first', ...Array<string>(TABS * EVENTS).fill('busy')] });
  const tags = (await service.events()).map(({ tags }) => tags);
  const different = (tag: string) => new Set(tags.map((one) => one[tag])).size;
  expect(['anonymous_id', 'session_id', 'session_number'].map(different)).toEqual([1, 1, 1]);
});

test('a page that comes back from the back/forward cache goes on with its ids, once', async ({
  bfcache,
  guest,
  service,
  site,
}) => {
  const page = await (await bfcache.open()).newPage();
  const parts = `combine(analytics, session(), anonymousId('tab'))`;
  const setUp = { parts, head: tellsLastShown, isTwice: true };
  await openReady(page, contextPage({ guest, site }, setupOf(service), setUp));
  await page.evaluate(() => analytics.identify('user_1'));
  await track(page, ['one']);
  await service.holds({ events: ['Identified', 'one'] }, { pages: [page] });
  await page.goto(site.page('/bare', BARE));
  await bfcache.back(page);
  await expect.poll(() => lastShown(page)).toBe('restored');
  await page.evaluate(() => analytics.identify('user_1'));
  await track(page, ['two']);
  await service.holds(
    { events: ['Identified', 'one', 'two'], identifies: ['user_1', 'user_1'] },
    { pages: [page] },
  );
  const tags = (await service.events()).map(({ tags }) => tags);
  for (const tag of ['anonymous_id', 'session_id', 'session_number']) {
    expect(new Set(tags.map((one) => one[tag])).size).toBe(1);
  }
});
