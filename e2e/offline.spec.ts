import { names } from './support/names.js';
import { laterPage } from './support/later.js';
import { statusOf } from './support/status-of.js';
import { stopAtRest } from './support/stop-at-rest.js';
import { storedEvents } from './support/stored-records.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

test('delivers 50 events of an offline visit after a restart of the browser, with their times @smoke', async ({
  profile,
  guest,
  service,
  site,
}) => {
  const first = await profile.open();
  const page = first.pages()[0]!;
  await page.goto(site.page('/', site.tagged()));
  await first.setOffline(true);
  const times = await track(page, names(50));
  await expect.poll(() => storedEvents(page)).toHaveLength(50);
  // Before the browser ends: what imitates being offline ends with it, and the page would try at once.
  await stopAtRest(page);
  await profile.close();

  const again = (await profile.open()).pages()[0]!;
  await again.goto(laterPage({ guest, site }, '/'));
  await service.holds({ events: names(50) }, { pages: [again] });
  for (const { event, timestamp } of await service.events()) {
    expect(Math.abs(Date.parse(timestamp) - times[event]!)).toBeLessThanOrEqual(250);
  }
  expect(await service.requests()).toHaveLength(50);
});

test('delivers as soon as the network is back @smoke', async ({ page, context, service, site }) => {
  await page.goto(site.page('/', site.tagged()));
  await context.setOffline(true);
  await track(page, names(30));
  await expect
    .poll(() => statusOf(page))
    .toMatchObject({ waiting: 30, inFlight: 0, paused: 'offline' });
  await context.setOffline(false);
  await service.holds({ events: names(30) }, { pages: [page], within: 5_000 });
});
