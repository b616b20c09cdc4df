import { names } from './support/names.js';
import { recipeIn } from './support/recipe.js';
import { statusOf } from './support/status-of.js';
import { storedEvents } from './support/stored-records.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

// What one tab hears of another. All else about consent stands in test/api/consent.test.ts.

test('a denial counts in the other tab, too, for as long as that lives', async ({
  page,
  context,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged({ flushInterval: 60_000 }));
  const other = await context.newPage();
  await page.goto(address);
  await other.goto(address);
  await context.setOffline(true);
  await track(page, names(5, 'here'));
  await track(other, names(5, 'there'));
  await expect.poll(() => storedEvents(page)).toHaveLength(10);
  await page.evaluate(() => analytics.setConsent('denied'));
  await expect.poll(async () => (await statusOf(other)).consent).toBe('denied');
  expect(await statusOf(other)).toMatchObject({ waiting: 0, dropped: { 'consent-denied': 5 } });
  await expect.poll(() => storedEvents(other)).toEqual([]);
  await page.evaluate(() => localStorage.clear());
  await track(other, ['denied']);
  expect(await statusOf(other)).toMatchObject({ consent: 'denied' });
  await context.setOffline(false);
  await service.holds({ events: [] }, { pages: [page, other] });
  expect(await service.requests()).toEqual([]);
});

test('the user is the one whom any tab has named last, until a reset in any tab', async ({
  page,
  context,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged());
  const other = await context.newPage();
  await page.goto(address);
  await other.goto(address);
  await page.evaluate(() => analytics.identify('user_1'));
  await expect.poll(async () => (await statusOf(other)).userId).toBe('user_1');
  await track(other, ['there']);
  await other.evaluate(() => localStorage.clear());
  await page.evaluate(() => analytics.reset());
  await expect.poll(async () => (await statusOf(other)).userId).toBe(undefined);
  await track(other, ['nobody']);
  await service.holds({ events: ['there', 'nobody'] }, { pages: [page, other] });
  const users = (await service.events()).map(({ event, user_id }) => [event, user_id]);
  expect(Object.fromEntries(users)).toEqual({ there: 'user_1', nobody: null });
});

test('the code of the page about privacy wipes all that is left after a denial', async ({
  page,
  context,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged());
  const other = await context.newPage();
  await page.goto(address);
  await other.goto(address);
  await page.evaluate(() => analytics.identify('user_1'));
  await track(other, names(5));
  await service.holds({ events: names(5), identifies: ['user_1'] }, { pages: [page, other] });
  await page.evaluate(() => analytics.setConsent('denied'));
  await expect.poll(async () => (await statusOf(other)).consent).toBe('denied');
  const left = () =>
    page.evaluate(async () => [
      Object.keys(localStorage),
      (await indexedDB.databases()).map(({ name }) => name),
    ]);
  await expect
    .poll(() => page.evaluate(() => Object.values(localStorage)))
    .toEqual(['refused', expect.stringMatching(/^\d+$/)]); // and when that was
  await page.evaluate(`(async () => { ${recipeIn('privacy.md', 'Wipe it all', 'js')} })()`);
  await expect.poll(left).toEqual([[], []]);
  await track(page, ['denied']);
  await track(other, ['denied']);
  expect(await left()).toEqual([[], []]);
});
