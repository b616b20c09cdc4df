import type { Page } from '@playwright/test';
import { AUTO } from './support/captured.js';
import { htmlPage, inline } from './support/html.js';
import { setupOf } from './support/setup-of.js';
import { scriptTag } from './support/tagged.js';
import { expect, test } from './support/test.js';

// What the parts of the context say stands in test/context/ and test/api/context.test.ts.

const TABS = 6;
const EVENTS = 25;

test('busy tabs that are opened at once share one anonymous id and one session', async ({
  context,
  guest,
  service,
  site,
}) => {
  guest.allowGlobals('isReady');
  const script = `<script type="module">
  import { analytics } from '/dist/index.js';
  import { anonymousId, combine, session } from '/dist/context.js';
  window.analytics = analytics;
  const context = combine(analytics, session('persistent'), anonymousId('persistent'));
  analytics.init({ ...${JSON.stringify(setupOf(service))}, context });
  window.isReady = true;
</script>`;
  const address = site.page('/', htmlPage({ head: script }));
  const callIn = async (tab: Page, events: number) => {
    await tab.goto(address);
    await tab.waitForFunction(() => (globalThis as { isReady?: boolean }).isReady);
    // With pauses as short as a busy page has: other tabs' changes of storage come between.
    await tab.evaluate(async (events) => {
      for (let event = 0; event < events; event++) {
        analytics.event('busy');
        await new Promise((done) => setTimeout(done, Math.random() * 8));
      }
    }, events);
  };
  await callIn(await context.newPage(), 1);
  const tabs = await Promise.all(Array.from({ length: TABS }, () => context.newPage()));
  await Promise.all(tabs.map((tab) => callIn(tab, EVENTS)));
  await service.holds({ events: Array<string>(1 + TABS * EVENTS).fill('busy') });
  const tags = (await service.events()).map(({ tags }) => tags);
  const different = (tag: string) => new Set(tags.map((one) => one[tag])).size;
  expect(['anonymous_id', 'session_id', 'session_number'].map(different)).toEqual([1, 1, 1]);
});

test('the tags of a context have their names in the built script', async ({
  page,
  service,
  site,
}) => {
  const attributes = 'data-context="page campaign device session" data-anonymous-id="persistent"';
  const tag = scriptTag(setupOf(service), { attributes, ...AUTO });
  const head = tag + inline(`analytics.event('opened')`);
  await page.goto(site.page('/', htmlPage({ head })) + '?utm_source=news');
  await service.holds({ events: ['opened'] });
  const [opened] = await service.events();
  expect(Object.keys(opened!.tags).sort()).toEqual([
    ...['anonymous_id', 'device', 'first_utm_source', 'language', 'path', 'session_id'],
    ...['session_number', 'title', 'utm_source', 'width'],
  ]);
});
