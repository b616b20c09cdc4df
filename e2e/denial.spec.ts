import { setupOf } from './support/setup-of.js';
import { statusOf } from './support/status-of.js';
import { expect, PROJECT, test } from './support/test.js';
import { track } from './support/track.js';

const KEY = `analytics-outbox ${PROJECT} consent`;

test('a denial in another tab, made after `stop()`, counts for a later `init`', async ({
  page,
  context,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged());
  const other = await context.newPage();
  await page.goto(address);
  await other.goto(address);
  await page.evaluate(() => analytics.stop());
  await other.evaluate(() => analytics.setConsent('denied'));
  await page.evaluate((options) => analytics.init(options as never), {
    ...setupOf(service),
    consent: 'granted',
  });
  await track(page, ['denied']);
  expect(await statusOf(page)).toMatchObject({ consent: 'denied', storage: 'none' });
  expect(await page.evaluate((key) => localStorage[key] as unknown, KEY)).toBe('refused');
  await page.reload();
  await track(page, ['denied']);
  await service.holds({ events: [] }, { pages: [page, other] });
  expect(await service.requests()).toEqual([]);
});

test('a denial lasts for as long as the page, though the site clears its storage', async ({
  page,
  context,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged());
  const other = await context.newPage();
  await page.goto(address);
  await other.goto(address);
  await other.evaluate(() => analytics.setConsent('denied'));
  await expect.poll(async () => (await statusOf(page)).consent).toBe('denied');
  await other.evaluate(() => localStorage.clear());
  for (const tab of [page, other]) {
    await track(tab, ['denied']);
    expect(await statusOf(tab)).toMatchObject({ consent: 'denied' });
  }
  await service.holds({ events: [] }, { pages: [page, other] });
});
