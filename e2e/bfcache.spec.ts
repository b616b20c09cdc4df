import { trackRefused } from './promise/steps.js';
import { heard, listening } from './support/heard.js';
import { lastShown, tellsLastShown } from './support/last-shown.js';
import { BARE } from './support/leave.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { storedEvents } from './support/stored-records.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

/** A page gives a transaction up after a second: one that was under way as it was left, a second after its return. */
const LONGER_THAN_WATCHDOG_MS = 1_200;
const TRIPS = 5;

test('keeps its database through quick trips back and forth @firefox', async ({
  bfcache,
  service,
  site,
}) => {
  const page = await (await bfcache.open()).newPage();
  await page.goto(site.page('/', site.tagged({}, listening)));
  const bare = site.page('/bare', BARE);
  // Gone while the page still writes and reads, and back before it has noticed.
  for (let trip = 0; trip < TRIPS; trip++) {
    await track(page, [`trip ${trip}`]);
    await page.goto(bare);
    await bfcache.back(page);
    await page.waitForFunction(() => 'analytics' in window && 'init' in analytics);
  }
  await track(page, ['last']);
  await service.holds({ events: [...names(TRIPS, 'trip'), 'last'] }, { pages: [page] });
  await page.evaluate((ms) => new Promise((done) => setTimeout(done, ms)), LONGER_THAN_WATCHDOG_MS);
  expect((await heard(page, 'storage')).map(({ storage }) => storage)).not.toContain('memory');
  expect(await statusOf(page)).toMatchObject({ storage: 'indexeddb', waiting: 0, dropped: {} });
});

test('forgets, when it is restored, what was denied in another tab meanwhile @firefox', async ({
  bfcache,
  service,
  site,
}) => {
  const context = await bfcache.open();
  const page = await context.newPage();
  const home = site.page('/', site.tagged({}, { head: tellsLastShown }));
  await page.goto(home);
  await trackRefused(service, page, names(5), 60);
  const refused = (await service.requests()).length;
  await page.goto(site.page('/bare', BARE));

  const other = await context.newPage();
  await other.goto(home);
  await other.evaluate(() => analytics.setConsent('denied'));
  await expect.poll(() => storedEvents(other)).toEqual([]);
  await bfcache.back(page);
  await expect.poll(() => lastShown(page)).toBe('restored');
  await page.evaluate(() => analytics.identify('user_1'));
  await track(page, names(25, 'restored'));
  expect(await statusOf(page)).toMatchObject({ consent: 'denied', waiting: 0, userId: undefined });
  await page.evaluate(() => analytics.flush());
  await expect.poll(() => page.evaluate(() => Object.values(localStorage))).toEqual(['refused']);
  expect(await storedEvents(page)).toEqual([]);
  await service.holds({ events: [], identifies: [] }, { pages: [other] });
  expect(await service.requests()).toHaveLength(refused);
});
