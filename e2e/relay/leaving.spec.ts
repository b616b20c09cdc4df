import { crash } from '../support/crash.js';
import { laterPage } from '../support/later.js';
import { trackAndGoInPause, waitForLongPause } from '../support/closed-gate.js';
import { BARE, openPopup, trackAndClose, trackAndGo } from '../support/leave.js';
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

test('hands off what was called in the task that closes the tab @smoke', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/bare', BARE));
  const popup = await openPopup(page, site.page('/', site.tagged()));
  const closed = popup.waitForEvent('close');
  await popup
    .evaluate((events) => {
      analytics.identify('user_1', { plan: 'pro' });
      for (const event of events) analytics.event(event);
      window.close();
    }, names(5))
    .catch(() => undefined); // it may be gone before it answers
  await closed;
  await service.holds({ events: names(5), identifies: ['user_1'] });
});

test('delivers 200 events of 1 kB, called as the page goes, once each', async ({
  page,
  relay,
  service,
  site,
}) => {
  const atExitOnly = { flushAt: 1_000, flushInterval: 60_000 };
  await page.goto(site.page('/', site.tagged(atExitOnly)));
  await trackAndGo(page, names(200), site.page('/bare', BARE), 900);
  await expect.poll(async () => (await service.events()).length).toBeGreaterThan(20);
  const handedOff = await service.neverTwice(names(200));
  expect(handedOff.length).toBeLessThan(60); // what the browser carries
  expect(relay.requests.every(({ isBeacon }) => isBeacon)).toBe(true);
  await page.goto(site.page('/next', site.tagged()));
  await service.holds({ events: names(200) }, { pages: [page] });
});

test('delivers 200 events of 1 kB, called in the task that closes the tab, once each', async ({
  page,
  context,
  guest,
  relay,
  service,
  site,
}) => {
  const atExitOnly = { flushAt: 1_000, flushInterval: 60_000 };
  await page.goto(site.page('/bare', BARE));
  const popup = await openPopup(page, site.page('/', site.tagged(atExitOnly)));
  await trackAndClose(popup, names(200), 900);
  const next = await context.newPage();
  await next.goto(laterPage({ guest, site }, '/next'));
  await service.holds({ events: names(200) }, { pages: [next] });
  expect(await statusOf(next)).toMatchObject({ unknown: 0, dropped: {} });
  expect(relay.requests.length).toBeLessThanOrEqual(25);
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

for (const after of [true, false]) {
  test(`stores once what was in flight when the page was killed, ${after ? 'and was stored' : 'and was lost'}`, async ({
    page,
    context,
    guest,
    relay,
    service,
    site,
  }) => {
    await page.goto(site.page('/', site.tagged({ flushAt: 1 })));
    relay.faults([{ after, hang: true, times: 1 }]);
    await track(page, names(10));
    await expect.poll(() => relay.requests.length).toBe(1);
    await expect.poll(() => storedEvents(page)).toHaveLength(10);
    await crash(page);

    const next = await context.newPage();
    await next.goto(laterPage({ guest, site }, '/'));
    await service.holds({ events: names(10) }, { pages: [next] });
    expect(await statusOf(next)).toMatchObject({ delivered: 10, unknown: 0 });
  });
}

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
