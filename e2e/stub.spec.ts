import type { Page } from '@playwright/test';
import { tellNothingBeforeLoad } from './support/leave.js';
import { openEarly } from './support/open-early.js';
import { expect, test } from './support/test.js';

// What the calls of a page come to that is left before the script has come stands in test/api/early-calls.test.ts, and
// how they are kept in test/client/tag.test.ts.

test('keeps the page running where the script does not come, in a browser without Object.hasOwn', async ({
  page,
  site,
}) => {
  await page.addInitScript(() => Reflect.deleteProperty(Object, 'hasOwn'));
  const body = `<button>Buy</button><script>
document.querySelector('button').addEventListener('click', () => {
  analytics.event('Bought');
  document.title = 'bought, ' + analytics.status().waiting + ' waiting';
});
</script>`;
  await page.goto(site.page('/', site.tagged({}, { src: '/missing/outbox.js', body })));
  await page.getByRole('button').click();
  await expect(page).toHaveTitle('bought, 1 waiting');
});

for (const [how, style] of Object.entries({
  'is missing': { src: '/missing/outbox.js' },
  'is another than its hash says': {
    attributes: `async integrity="sha384-${'A'.repeat(64)}" crossorigin="anonymous"`,
  },
})) {
  test(`settles a flush as the script ${how}`, async ({ page, guest, site }) => {
    guest.allow(/Failed to find a valid digest in the 'integrity' attribute/);
    await page.goto(site.page('/', site.tagged({}, style)));
    await page.evaluate(() => void analytics.event('one'));
    const flushed = await page.evaluate(() => analytics.flush());
    expect(flushed).toMatchObject({ delivered: 0, rejected: 0, retried: 0, waiting: 1 });
  });
}

const leftIn = (page: Page) =>
  page.evaluate(() =>
    Object.values({ ...sessionStorage })
      .map(String)
      .join(),
  );
const NO_TAG = '<!doctype html><title>No tag</title>';

test('keeps calls for the next page of the tab, where the browser tells nothing of the leaving', async ({
  page,
  service,
  site,
}) => {
  await tellNothingBeforeLoad(page);
  const release = site.hold('/dist/outbox.js');
  const named = (html: string) => html.replace('<html', '<html data-project="another"');
  await openEarly(page, site.page('/', named(site.tagged())));
  const next = site.page('/next', NO_TAG);
  const called = await page.evaluate((next) => {
    analytics.identify('user_1');
    analytics.event('early', { tags: { n: 1 } });
    location.href = next;
    return Date.now();
  }, next);
  await page.waitForURL(next);
  release();
  await page.goto(site.page('/last', named(site.tagged())));
  await service.holds({ events: ['early'], identifies: ['user_1'] }, { pages: [page] });
  const [early] = await service.events();
  expect(early).toMatchObject({ user_id: 'user_1', tags: { n: 1 } });
  expect(Date.parse(early!.timestamp)).toBeLessThanOrEqual(called);
  expect(await leftIn(page)).toBe('');
});
