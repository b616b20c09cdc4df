import type { Page } from '@playwright/test';
import type { Guest } from './support/guest.js';
import { htmlPage } from './support/html.js';
import { lastShown, tellsLastShown } from './support/last-shown.js';
import { BARE } from './support/leave.js';
import type { Service } from './support/service.js';
import { setupOf } from './support/setup-of.js';
import type { Site } from './support/site.js';
import { expect, test } from './support/test.js';
import { traces } from './support/traces.js';
import { track } from './support/track.js';

interface Given {
  guest: Guest;
  site: Pick<Site, 'page'>;
  service: Service;
}

/**
 * A page that imports the package and its context, and sets both up. `parts` is JavaScript: the parts to combine.
 * `setUp` runs twice where `isTwice` says so, as components do in React's StrictMode.
 */
const contextPage = (
  { guest, site, service }: Given,
  parts: string,
  { head = '', isTwice = false }: { head?: string; isTwice?: boolean } = {},
): string => {
  guest.allowGlobals('isReady');
  const script = `<script type="module">
  import { analytics } from '/dist/index.js';
  import { anonymousId, campaign, combine, device, page, session } from '/dist/context.js';
  window.analytics = analytics;
  const setUp = () =>
    analytics.init({ ...${JSON.stringify(setupOf(service))}, context: combine(analytics, ${parts}) });
  setUp();
  ${isTwice ? 'setUp();' : ''}
  window.isReady = true;
</script>`;
  return site.page('/', htmlPage({ head: head + script }));
};

/** Opens an address of that page, and waits until it is set up. */
const openReady = async (page: Page, address: string): Promise<void> => {
  await page.goto(address);
  await page.waitForFunction(() => (globalThis as { isReady?: boolean }).isReady);
};

test('page, campaign and device give their tags; the campaign stays in the tab @firefox', async ({
  page,
  guest,
  service,
  site,
}) => {
  const address = contextPage({ guest, site, service }, 'page(), campaign(), device()');
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
  const parts = `session('persistent'), anonymousId('persistent')`;
  const address = contextPage({ guest, site, service }, parts);
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
  const style = { head: tellsLastShown, isTwice: true };
  const parts = `session(), anonymousId('tab')`;
  await openReady(page, contextPage({ guest, site, service }, parts, style));
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
