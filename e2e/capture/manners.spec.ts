import type { Page } from '@playwright/test';
import { AUTO, captured, EVERYTHING, HERE, namesOf, type Row } from '../support/captured.js';
import { BARE, htmlPage, inline } from '../support/html.js';
import { setupOf, UNSET } from '../support/setup-of.js';
import { expect, test } from '../support/test.js';

const setConsent = (page: Page, consent: 'granted' | 'pending' | 'denied') =>
  page.evaluate((consent) => analytics.setConsent(consent), consent);

const LOADED = (page: Page) =>
  expect.poll(() => page.evaluate(() => Symbol.for('analytics-outbox') in analytics)).toBe(true);

test.describe('consent', () => {
  /** Counts what a page begins to observe, and what it stores. */
  const counts = inline(`{
    const seen = (window[Symbol.for('seen')] = []);
    const { addEventListener } = EventTarget.prototype;
    // Not what the driver of the browser listens to.
    const note = (name) => Error().stack.includes('/outbox-auto.js') && seen.push(name);
    EventTarget.prototype.addEventListener = function (type, ...rest) {
      note(type);
      return addEventListener.call(this, type, ...rest);
    };
    for (const name of ['IntersectionObserver', 'PerformanceObserver']) {
      window[name] = class extends window[name] {
        constructor(...args) { super(...args); note(name); }
      };
    }
  }`);
  const observed = (page: Page) =>
    page.evaluate(() => {
      const seen = (window as never as Record<symbol, string[]>)[Symbol.for('seen')]!;
      const ofCapture =
        /^(click|auxclick|submit|error|unhandledrejection|scroll|pointer.*|keydown|currententrychange|.*Observer)$/;
      // Without capture, too, the client hears a followed link and a sent form, once each, while the page loads.
      const ofClient = ['click', 'submit'].map((name) => seen.indexOf(name));
      const more = seen.filter((_, index) => !ofClient.includes(index));
      return [...new Set(more.filter((name) => ofCapture.test(name)))].sort();
    });

  test('is waited for: nothing is observed, stored or sent before it, or after it ends @firefox', async ({
    page,
    guest,
    service,
    site,
  }) => {
    guest.allow(/page error|Uncaught|Error: /);
    const body = `<button data-event="Clicked">Click</button>
<p data-event="Seen" data-event-when="visible">see</p>`;
    const options = { auto: EVERYTHING, consent: 'pending' };
    await page.goto(site.page('/a', site.tagged(options, { ...AUTO, head: counts, body })));
    await LOADED(page);
    const act = async () => {
      await page.getByText('Click').click();
      await page.evaluate(() => void Promise.reject(new Error('no')));
    };
    await act();
    await page.evaluate(() => history.pushState({}, '', '/b'));
    expect(await observed(page)).toEqual([]);
    const traces = () =>
      page.evaluate(async () => [
        ...Object.keys(localStorage),
        ...Object.keys(sessionStorage),
        ...(await indexedDB.databases()).map(({ name }) => name),
        document.cookie,
      ]);
    expect(await traces()).toEqual(['']);
    expect(await page.evaluate(() => analytics.status())).toMatchObject({
      waiting: 0,
      storage: 'none',
    });
    expect(await service.requests()).toEqual([]);

    await setConsent(page, 'granted');
    expect(await observed(page)).toContain('click');
    await page.getByText('Click').click();
    const expected = ['Page Viewed', 'Seen', 'Clicked'];
    await service.holds({ events: expected });
    await setConsent(page, 'denied');
    await act();
    await page.evaluate(() => history.pushState({}, '', '/c'));
    expect(await page.evaluate(() => analytics.status().dropped)).toEqual({});
    await page.goto(site.page('/bare', BARE));
    const rows = await captured(service, expected);
    expect(rows.map(([event, { path }]) => [event, path]).sort()).toEqual([
      ['Clicked', '/b'],
      ['Page Viewed', '/b'],
      ['Seen', '/b'],
    ]);
  });

  test('is known from `init` on', async ({ page, service, site }) => {
    const options = { ...UNSET, auto: `pageviews ${HERE}` };
    await page.goto(site.page('/', site.tagged(options, { ...AUTO, head: counts })));
    await LOADED(page);
    expect(await observed(page)).toEqual([]);
    await page.evaluate((options) => analytics.init(options), setupOf(service));
    await service.holds({ events: ['Page Viewed'] });
  });
});

test('tells the developer of a word that it does not know, and captures the others', async ({
  page,
  guest,
  service,
  site,
}) => {
  const message = /data-auto has no pageview: did you mean `pageviews`/;
  guest.allow(message);
  const told = page.waitForEvent('console', (line) => message.test(line.text()));
  await page.goto(site.page('/', site.tagged({ auto: `pageview clicks ${HERE}` }, AUTO)));
  expect((await told).type()).toBe('warning');
  await page.evaluate(() => analytics.event('By hand'));
  await service.holds({ events: ['By hand'] });
});

test('is no long task on a page of 5,000 elements with 50 clicks', async ({
  page,
  service,
  site,
}) => {
  const cards = Array.from(
    { length: 2_500 },
    (_, i) => `<div><a href="#${i}" data-event="Clicked" data-tag-card="${i}">card ${i}</a></div>`,
  ).join('');
  // Which script kept the page how long, of all frames that were late.
  const watch = inline(`{
    const scripts = (window[Symbol.for('scripts')] = []);
    new PerformanceObserver((list) => {
      for (const frame of list.getEntries()) scripts.push(...frame.scripts);
    }).observe({ type: 'long-animation-frame', buffered: true });
  }`);
  site.file(
    '/slow.js',
    `addEventListener('dblclick', () => {
      for (const end = performance.now() + 100; performance.now() < end;);
    });`,
  );
  const style = { ...AUTO, head: watch, body: `${cards}<script src="/slow.js"></script>` };
  // Sending waits until the page is left: what it costs is measured elsewhere.
  const options = { auto: EVERYTHING, flushAt: 1_000, flushInterval: 600_000 };
  await page.goto(site.page('/', site.tagged(options, style)));
  await LOADED(page);
  const slow = () =>
    page.evaluate(() => {
      type Script = { sourceURL: string; invoker: string; duration: number };
      const scripts = (window as never as Record<symbol, Script[]>)[Symbol.for('scripts')]!;
      const long = scripts.filter(({ duration }) => duration >= 50);
      return long.map(
        ({ sourceURL, invoker }) => `${invoker} of ${sourceURL.replace(/^.*\//, '')}`,
      );
    });
  // Clicks as a visitor makes them: of others, the browser holds the script that made them to be at fault.
  const { x, y } = (await page.getByText('card 0').boundingBox())!;
  for (let click = 0; click < 50; click++) await page.mouse.click(x + 2, y + 2);
  await page.mouse.dblclick(x + 2, y + 2);
  // This shows that a long task is noticed, and whose it is.
  await expect.poll(slow).toContainEqual(expect.stringMatching(/of slow\.js$/));
  // A busy machine may suspend any script for so long, once. What is slow of itself is slow at each click.
  const ours = (await slow()).filter((script) => script.includes('outbox-auto'));
  expect(ours.length, ours.join()).toBeLessThanOrEqual(2);
  await page.goto(site.page('/end', BARE));
  const clicks = Array.from({ length: 52 }, () => 'Clicked');
  await service.holds({ events: [...clicks, 'Page Viewed', 'Page Left', 'Web Vitals'] });
});

test('is imported: twice is once, and `stop` ends it', async ({ page, guest, service, site }) => {
  guest.allowGlobals('second');
  const body = `<button data-event="Clicked">Click</button><script type="module">
  import { analytics } from '/dist/index.js';
  import { autocapture } from '/dist/autocapture.js';
  analytics.init(${JSON.stringify(setupOf(service))});
  // As React's StrictMode does in development, and without the clean-up.
  autocapture(analytics, { pageviews: true, clicks: true, automated: true, local: true })();
  autocapture(analytics, { pageviews: true, clicks: true, automated: true, local: true });
  window.second = autocapture(analytics, { pageviews: true, clicks: true, automated: true, local: true });
</script>`;
  await page.goto(site.page('/', htmlPage({ body })));
  await service.holds({ events: ['Page Viewed'] });
  await page.getByText('Click').click();
  const expected: Row[] = [
    ['Page Viewed', { path: '/', host: new URL(site.url).host, title: 'A page' }],
    ['Clicked', { path: '/' }],
  ];
  expect(await captured(service, namesOf(expected))).toEqual(expected);
  await page.evaluate(() => {
    (window as never as { second: () => void }).second();
    history.pushState({}, '', '/b');
    document.querySelector('button')!.click();
  });
  expect(await captured(service, namesOf(expected))).toEqual(expected);
});
