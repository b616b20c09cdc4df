import { laterPage } from '../support/later.js';
import { trackAndGoInPause, waitForLongPause } from '../support/closed-gate.js';
import { BARE, trackAndGo } from '../support/leave.js';
import { names } from '../support/names.js';
import { statusOf } from '../support/status-of.js';
import { LONGEST, steadyBackoff } from '../support/steady-backoff.js';
import { storedEvents } from '../support/stored-records.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

test.use({ mode: 'relay' });

test('gives a beacon what was called in the task that leaves, and stores it once @smoke', async ({
  page,
  relay,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged()));
  await trackAndGo(page, names(5), site.page('/bare', BARE));
  await service.holds({ events: names(5) });
  expect(relay.requests).toMatchObject([{ events: names(5), isBeacon: true }]);

  // Nobody heard the answer: the next page sends it again, and hears that it was delivered.
  await page.goto(site.page('/next', site.tagged()));
  await expect.poll(() => statusOf(page)).toMatchObject({ delivered: 5, unknown: 0, waiting: 0 });
  await service.holds({ events: names(5) }, { pages: [page] });
  expect(relay.requests[1]).toMatchObject({ ids: relay.requests[0]!.ids, isBeacon: false });
  expect(await storedEvents(page)).toEqual([]);
});

test('delivers 200 events of 1 kB, called before the tab is closed, once each', async ({
  page,
  context,
  guest,
  relay,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ flushAt: 1_000, flushInterval: 60_000 })));
  await page.evaluate((events) => {
    for (const event of events) analytics.event(event, { description: 'x'.repeat(900) });
  }, names(200));
  await page.close({ runBeforeUnload: false });
  const next = await context.newPage();
  await next.goto(laterPage({ guest, site }, '/next'));
  await service.holds({ events: names(200) }, { pages: [next] });
  expect(await statusOf(next)).toMatchObject({ unknown: 0, dropped: {} });
  expect(relay.requests.length).toBeLessThanOrEqual(25);
});

test('hands off while the relay is known to fail', async ({ page, relay, service, site }) => {
  await steadyBackoff(page, LONGEST);
  await page.goto(site.page('/', site.tagged()));
  relay.faults([{ status: 503 }]);
  await track(page, ['first']);
  await waitForLongPause(page);
  relay.faults([]);
  expect(await trackAndGoInPause(page, names(5), site.page('/bare', BARE))).toBe('backoff');
  await service.holds({ events: ['first', ...names(5)] });
});
