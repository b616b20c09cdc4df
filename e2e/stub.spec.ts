import type { Page } from '@playwright/test';
import { openEarly } from './support/open-early.js';
import { tellNothingBeforeLoad } from './support/leave.js';
import { expect, test } from './support/test.js';

/** What a flush, or `status()`, says while the script is not there. */
const NOTHING = { delivered: 0, rejected: 0, retried: 0 };

/** A button of the page's own, whose handler calls the tracker first. */
const BUTTON = `<button>Buy</button><script>
document.querySelector('button').addEventListener('click', () => {
  analytics.event('Bought');
  document.title = 'bought, ' + analytics.status().waiting + ' waiting';
});
</script>`;

const flushOf = (page: Page) => page.evaluate(() => analytics.flush());

test.describe('the stub, where the script does not come', () => {
  test('keeps the page running in a browser without Object.hasOwn', async ({ page, site }) => {
    await page.addInitScript(() => Reflect.deleteProperty(Object, 'hasOwn'));
    site.page('/', site.tagged({}, { src: '/missing/outbox.js', body: BUTTON }));
    await page.goto(site.url + '/');
    await page.getByRole('button').click();
    await expect(page).toHaveTitle('bought, 1 waiting');
  });

  const WAYS = {
    'is missing': { src: '/missing/outbox.js' },
    'is another than its hash says': {
      attributes: `async integrity="sha384-${'A'.repeat(64)}" crossorigin="anonymous"`,
    },
  };
  for (const [how, style] of Object.entries(WAYS)) {
    test(`settles a flush as the script ${how}`, async ({ page, guest, site }) => {
      guest.allow(/Failed to find a valid digest in the 'integrity' attribute/);
      site.page('/', site.tagged({}, style));
      await page.goto(site.url + '/');
      await page.evaluate(() => void analytics.event('one'));
      expect(await flushOf(page)).toMatchObject({ ...NOTHING, waiting: 1 });
    });
  }
});

test.describe('calls of a page that is left before the script has come', () => {
  const leftIn = (page: Page) =>
    page.evaluate(() => Object.values({ ...sessionStorage }).map(String));

  test('are made on the next page of the tab, with their times', async ({
    page,
    service,
    site,
  }) => {
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged()));
    const called = await page.evaluate(() => {
      analytics.identify('user_1');
      analytics.event('early', { tags: { n: 1 } });
      return Date.now();
    });
    await page.goto(site.page('/next', '<!doctype html><title>No tag</title>'));
    release();
    await page.goto(site.page('/last', site.tagged()));
    await service.holds({ events: ['early'], identifies: ['user_1'] }, { pages: [page] });
    const [early] = await service.events();
    expect(early).toMatchObject({ user_id: 'user_1', tags: { n: 1 } });
    expect(Date.parse(early!.timestamp)).toBeLessThanOrEqual(called);
    expect(await leftIn(page)).toEqual([]);
  });

  test('are those of its tag, though another element has `data-project`', async ({
    page,
    service,
    site,
  }) => {
    const release = site.hold('/dist/outbox.js');
    const named = (html: string) => html.replace('<html', '<html data-project="another"');
    await openEarly(page, site.page('/', named(site.tagged())));
    await page.evaluate(() => analytics.event('early'));
    await page.goto(site.page('/next', '<!doctype html><title>No tag</title>'));
    release();
    await page.goto(site.page('/last', named(site.tagged())));
    await service.holds({ events: ['early'] }, { pages: [page] });
  });

  test('are kept at the call, where the browser tells nothing of the leaving', async ({
    page,
    service,
    site,
  }) => {
    await tellNothingBeforeLoad(page);
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged()));
    const next = site.page('/next', '<!doctype html><title>No tag</title>');
    await page.evaluate((next) => {
      analytics.event('early');
      location.href = next;
    }, next);
    await page.waitForURL(next);
    expect(await leftIn(page)).toHaveLength(1);
    release();
    await page.goto(site.page('/last', site.tagged()));
    await service.holds({ events: ['early'] }, { pages: [page] });
    expect(await leftIn(page)).toEqual([]);
  });

  test('are removed by a denial, which counts on the next page, without a word of the leaving', async ({
    page,
    service,
    site,
  }) => {
    await tellNothingBeforeLoad(page);
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged()));
    await page.evaluate(() => {
      sessionStorage.setItem('analyticspages', 'not ours');
      analytics.event('first page');
    });
    await openEarly(page, site.page('/second', site.tagged()));
    // As consent platforms do that load the page again after "reject".
    const next = site.page('/next', '<!doctype html><title>No tag</title>');
    await page.evaluate((next) => {
      analytics.event('second page');
      analytics.setConsent('denied');
      analytics.event('denied');
      location.href = next;
    }, next);
    await page.waitForURL(next);
    const left = (await leftIn(page)).join();
    expect(left).toContain('setConsent');
    expect(left).not.toMatch(/first page|second page|"event"/);
    expect(left).toContain('not ours');
    release();
    await page.goto(site.page('/last', site.tagged()));
    await page.evaluate(() => analytics.event('last page'));
    expect(await page.evaluate(() => analytics.status())).toMatchObject({ consent: 'denied' });
    expect(await leftIn(page)).toEqual(['not ours']);
    // A banner that asks again: nothing of before comes back.
    await page.evaluate(() => {
      analytics.setConsent('granted');
      analytics.event('granted');
    });
    await service.holds({ events: ['granted'] }, { pages: [page] });
  });
});
