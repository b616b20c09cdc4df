import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import { isBrowserNoise, isHelp } from './support/browser-noise.js';
import { readDist } from './support/dist.js';
import { htmlPage, inline } from './support/html.js';
import { openEarly } from './support/open-early.js';
import { setupOf } from './support/setup-of.js';
import { scriptTag, stubTag } from './support/tagged.js';
import { expect, test } from './support/test.js';

const snippet = createRequire(import.meta.url)('@segment/snippet') as {
  min: (settings: { apiKey: string; page: boolean }) => string;
};

/** Lines that scripts of the page write to the console from now on, such as `error: message`. */
const consoleOf = (page: Page): string[] => {
  const lines: string[] = [];
  page.on('console', (message) => {
    if (!isBrowserNoise(message) && !isHelp(message))
      lines.push(`${message.type()}: ${message.text()}`);
  });
  return lines;
};

test.describe('the global', () => {
  const FOREIGN = inline(
    `window.analytics = { mine: true, event() { throw new Error('foreign') } }`,
  );
  const TAKEN = /window\.analytics is taken/;

  test('of another script is left alone, with one warning', async ({
    page,
    guest,
    service,
    site,
  }) => {
    guest.allow(TAKEN);
    const lines = consoleOf(page);
    site.page('/', site.tagged({}, { head: FOREIGN }));
    await page.goto(site.url + '/');
    expect(await page.evaluate(() => Object.keys(window.analytics))).toEqual(['mine', 'event']);
    // By the developers' file, which comes later.
    await expect
      .poll(() => lines)
      .toEqual([
        'warning: analytics-outbox: window.analytics is taken: use data-global, in the stub too',
      ]);
    await service.holds({ events: [] });
  });

  test('is shared with a snippet of Segment’s below the stub: the site stays alive, and is told which name to change', async ({
    page,
    guest,
    service,
    site,
  }) => {
    guest.allow(/ERR_FAILED|Segment's snippet/);
    await page.route('https://cdn.segment.com/**', (route) => route.abort());
    const lines = consoleOf(page);
    const release = site.hold('/dist/outbox.js');
    const below = inline(
      `${snippet.min({ apiKey: 'KEY', page: true })};
      analytics.track('Theirs');
      analytics.event('ours');`,
    );
    await openEarly(page, site.page('/', site.tagged({}, { body: below })));
    await page.waitForFunction(() => document.readyState !== 'loading');
    release();
    await expect
      .poll(() => lines.join())
      .toMatch(/Segment's snippet uses window\.analytics, too: use/);
    await page.evaluate(() => {
      (analytics as unknown as { track: (name: string) => void }).track('Theirs');
      analytics.event('ours, later');
    });
    await service.holds({ events: ['ours', 'ours, later'] }, { pages: [page] });
  });

  test('may be another, beside a foreign one', async ({ page, guest, service, site }) => {
    guest.allowGlobals('outbox');
    const stub = inline(readDist('stub.js').replace('"analytics"', '"outbox"'));
    const head =
      FOREIGN +
      stub +
      inline(`outbox.event('early')`) +
      scriptTag({ ...setupOf(service), global: 'outbox' });
    site.page('/', htmlPage({ head }));
    await page.goto(site.url + '/');
    await page.evaluate('outbox.event("late")');
    await service.holds({ events: ['early', 'late'] });
    expect(await page.evaluate(() => 'mine' in analytics)).toBe(true);
    expect(await page.evaluate('outbox.status().waiting')).toBe(0);
  });

  test('is not taken by an element that has its name as id', async ({ page, service, site }) => {
    const body =
      '<section id="analytics"></section>' +
      stubTag() +
      inline(`analytics.event('early')`) +
      scriptTag(setupOf(service));
    site.page('/', htmlPage({ body }));
    await page.goto(site.url + '/');
    await service.holds({ events: ['early'] }, { pages: [page] });
  });
});
