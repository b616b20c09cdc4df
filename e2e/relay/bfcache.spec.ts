import type { Page } from '@playwright/test';
import { lastShown, tellsLastShown } from '../support/last-shown.js';
import { BARE, trackAndGo } from '../support/leave.js';
import { names } from '../support/names.js';
import { statusOf } from '../support/status-of.js';
import { steadyBackoff } from '../support/steady-backoff.js';
import { storedEvents } from '../support/stored-records.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

test.use({ mode: 'relay' });

const style = { head: tellsLastShown };
const busy = { status: 503, headers: { 'retry-after': '2' }, times: 1 };

const waitsForTheRelay = (page: Page) =>
  expect.poll(() => statusOf(page)).toMatchObject({ waiting: 10, inFlight: 0, paused: 'backoff' });

test('delivers what waits when the page is restored', async ({ bfcache, relay, service, site }) => {
  const context = await bfcache.open();
  await steadyBackoff(context);
  const page = await context.newPage();
  await page.goto(site.page('/', site.tagged({}, style)));
  relay.faults([busy]);
  await track(page, names(10));
  await waitsForTheRelay(page);
  await page.goto(site.page('/bare', BARE));
  await bfcache.back(page);
  await expect.poll(() => lastShown(page)).toBe('restored');
  await track(page, ['restored']);
  await service.holds({ events: [...names(10), 'restored'] }, { pages: [page] });
  // None but the first before its time, and none once more.
  const [refused, ...rest] = relay.requests;
  for (const { at } of rest) expect(at - refused!.at).toBeGreaterThanOrEqual(2_000);
  expect(rest.flatMap(({ events }) => events)).toHaveLength(11);
  expect(await storedEvents(page)).toEqual([]);
});

test('sends nothing again that another tab has taken over meanwhile', async ({
  bfcache,
  relay,
  service,
  site,
}) => {
  const context = await bfcache.open();
  await steadyBackoff(context);
  const page = await context.newPage();
  const home = site.page('/', site.tagged({}, style));
  await page.goto(home);
  relay.faults([busy]);
  await track(page, names(10));
  await waitsForTheRelay(page);
  await page.goto(site.page('/bare', BARE));

  const other = await context.newPage();
  await other.goto(home);
  await service.holds({ events: names(10) }, { pages: [other] });
  await bfcache.back(page);
  await expect.poll(() => lastShown(page)).toBe('restored');
  await track(page, ['restored']);
  await service.holds({ events: [...names(10), 'restored'] }, { pages: [page, other] });
  const [refused, ...rest] = relay.requests;
  expect(refused!.events).toHaveLength(10);
  expect(rest.flatMap(({ events }) => events).toSorted()).toEqual([...names(10), 'restored']);
});

test('stores once what a page beaconed that comes back from the back/forward cache', async ({
  bfcache,
  relay,
  service,
  site,
}) => {
  const page = await (await bfcache.open()).newPage();
  await page.goto(site.page('/', site.tagged({}, { head: tellsLastShown })));
  await trackAndGo(page, names(5), site.page('/bare', BARE));
  await service.holds({ events: names(5) });
  await bfcache.back(page);
  await expect.poll(() => lastShown(page)).toBe('restored');
  await track(page, ['restored']);
  await service.holds({ events: [...names(5), 'restored'] }, { pages: [page] });
  expect(relay.requests[0]).toMatchObject({ isBeacon: true });
  expect(await statusOf(page)).toMatchObject({ delivered: 6, unknown: 0 });
  expect(await storedEvents(page)).toEqual([]);
});
