import { heard, listening } from '../support/heard.js';
import { BARE } from '../support/leave.js';
import { names } from '../support/names.js';
import { requestsFor } from '../support/requests-for.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

/** How long the relay waits for the service: less than the page waits for the relay. */
const TIMEOUT_MS = 3_000;
const HUNG = 'event 3';

test.use({ mode: 'relay', relayOptions: { timeout: TIMEOUT_MS } });

test('lets the others pass while the service hangs on one record and on one identify', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  await service.faults([
    { match: { event: HUNG }, hang: true, times: 1 },
    { match: { path: '/v1/identify', user_id: 'slow' }, hang: true, times: 1 },
  ]);
  const times = await track(page, names(20));
  const called = await page.evaluate(() => {
    analytics.identify('slow', { n: 1 });
    analytics.event('of slow');
    analytics.identify('slow', { n: 2 });
    analytics.identify('quick');
    analytics.event('of quick');
    analytics.event('of nobody', { userId: null });
    return Date.now();
  });
  await service.holds(
    {
      events: [...names(20), 'of slow', 'of quick', 'of nobody'],
      identifies: ['slow', 'slow', 'quick'],
    },
    { pages: [page] },
  );
  for (const { event, received_at } of await service.events()) {
    const took = Date.parse(received_at) - (times[event] ?? called);
    if (event === HUNG || event === 'of slow') expect(took).toBeGreaterThanOrEqual(TIMEOUT_MS - 50);
    else expect(took, event).toBeLessThan(2_500);
  }
  const slow = (await service.identifies()).filter(({ user_id }) => user_id === 'slow');
  expect(slow.map(({ properties }) => properties)).toEqual([{ n: 1 }, { n: 2 }]);
  expect(await requestsFor(service, HUNG)).toHaveLength(2);
  const others = (await heard(page, 'outcome')).filter(({ outcome }) => outcome !== 'delivered');
  // The two that hung, and the two that wait for the identify.
  expect(others.map(({ outcome }) => outcome)).toEqual(Array(4).fill('retry'));
});

test('sends a batch again whose answer never ends, and the relay stores it once', async ({
  page,
  relay,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ timeout: 2_500 }, listening)));
  relay.faults([{ endless: true, times: 1 }]);
  await track(page, names(20));
  await service.holds({ events: names(20) }, { pages: [page] });
  const [first, ...again] = relay.requests;
  expect(again.flatMap(({ ids }) => ids).sort()).toEqual(first!.ids.toSorted());
  const outcomes = (await heard(page, 'outcome')).map(({ outcome }) => outcome);
  expect(outcomes.sort()).toEqual([...Array(20).fill('delivered'), ...Array(20).fill('retry')]);
});

test('keeps one connection busy, so that a link works, and leaves the others to the next page', async ({
  page,
  relay,
  service,
  site,
}) => {
  const next = site.page('/next', BARE);
  const link = { body: `<a href="${next}">Next</a>` };
  await page.goto(site.page('/', site.tagged({ flushAt: 1 }, { ...listening, ...link })));
  relay.faults([{ hang: true }]);
  for (const event of names(8)) {
    await track(page, [event]);
    await page.evaluate(() => void analytics.flush());
  }
  await expect.poll(() => relay.requests.length).toBe(1);
  await page.getByRole('link', { name: 'Next' }).click();
  await page.waitForURL(next);
  // The rest was given to the browser as the page went.
  expect(relay.requests.filter(({ isBeacon }) => !isBeacon)).toHaveLength(1);
  relay.faults([]);
  await page.goto(site.page('/after', site.tagged()));
  await service.holds({ events: names(8) }, { pages: [page] });
});
