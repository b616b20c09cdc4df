import { crash } from './support/crash.js';
import { laterPage } from './support/later.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { storedEvents, storedFlight } from './support/stored-records.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const EVENTS = names(20);

test('delivers within 65 seconds of the next visit what a page that crashed has left @relay', async ({
  page,
  context,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ flushAt: 100, flushInterval: 600_000 })));
  await track(page, EVENTS);
  await expect.poll(() => storedEvents(page)).toHaveLength(20);
  await crash(page);

  const next = await context.newPage();
  await next.clock.install();
  await next.goto(site.page('/', site.tagged()));
  await expect.poll(() => statusOf(next)).toMatchObject({ elsewhere: 20 });
  await next.clock.fastForward(30_000);
  await next.evaluate(() => analytics.flush());
  expect(await service.events()).toEqual([]); // the page may be alive, for all that others know
  for (let i = 0; i < 7; i++) {
    await next.clock.fastForward(5_000);
    await next.evaluate(() => analytics.flush());
  }
  await service.holds({ events: EVENTS });
});

test('counts as elsewhere what a page that crashed still holds', async ({
  page,
  context,
  service,
  site,
}) => {
  await service.stop();
  await page.goto(site.page('/', site.tagged()));
  await track(page, EVENTS);
  await expect.poll(() => storedEvents(page)).toHaveLength(20);
  await expect.poll(() => storedFlight(page)).toEqual([]);
  await crash(page);
  await service.start();

  const next = await context.newPage();
  await next.goto(site.page('/', site.tagged()));
  await expect.poll(() => statusOf(next)).toMatchObject({ waiting: 0, elsewhere: 20 });
  await track(next, ['another']);
  await service.holds({ events: ['another'] });
  expect(await statusOf(next)).toMatchObject({ elsewhere: 20, delivered: 1 });
});

test('never sends again what went out in the moment of a kill', async ({
  profile,
  guest,
  service,
  site,
}) => {
  // Once a request is out, its page does nothing any more: nor does it write down that it is.
  const head = `<script>{ const send = fetch; fetch = (...args) => { send(...args); for (;;); }; }</script>`;
  const page = (await profile.open()).pages()[0]!;
  await page.goto(site.page('/', site.tagged({ concurrency: 1 }, { head })));
  await page.waitForFunction(() => analytics.status().storage === 'indexeddb');
  await track(page, EVENTS);
  await expect.poll(async () => (await service.events()).length).toBe(1);
  await profile.kill();

  const again = (await profile.open()).pages()[0]!;
  await again.goto(laterPage({ guest, site }, '/'));
  await service.holds({ events: EVENTS }, { pages: [again] });
  expect(await statusOf(again)).toMatchObject({ delivered: 19, unknown: 1 });
});
