import { crash } from './support/crash.js';
import { heard, listening } from './support/heard.js';
import { laterPage } from './support/later.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { steadyBackoff } from './support/steady-backoff.js';
import { storedEvents, storedFlight } from './support/stored-records.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const EVENTS = names(20);
/** Requests that hang outlive their page, and a browser opens six connections to a service. */
const HANGING = 3;

test('delivers after a crash what waited, and counts what was in flight', async ({
  page,
  context,
  guest,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ concurrency: HANGING })));
  await service.faults([{ hang: true }]);
  await track(page, EVENTS);
  await expect.poll(() => storedEvents(page)).toHaveLength(20);
  await expect.poll(async () => (await service.requests()).length).toBe(HANGING);
  const hung = (await service.requests()).map(({ body }) => (body as { event: string }).event);
  await crash(page);
  await service.faults([]);

  const next = await context.newPage();
  await next.goto(laterPage({ guest, site }, '/', {}, listening));
  // The service took none of those: that is the price of never sending one twice.
  const waited = EVENTS.filter((event) => !hung.includes(event));
  await service.holds({ events: waited }, { pages: [next] });
  expect(await statusOf(next)).toMatchObject({
    delivered: 20 - HANGING,
    unknown: HANGING,
    dropped: {},
  });
  const unknown = (await heard(next, 'outcome')).filter(({ outcome }) => outcome === 'unknown');
  const namesOf = unknown.map(({ record }) => (JSON.parse(record.body) as { event: string }).event);
  expect(namesOf.sort()).toEqual(hung.sort());
});

test('delivers everything once after a crash with the service down @relay', async ({
  page,
  context,
  guest,
  service,
  site,
}) => {
  test.setTimeout(120_000);
  await steadyBackoff(page);
  await page.goto(site.page('/', site.tagged({}, listening)));
  await service.stop();
  await track(page, EVENTS);
  await expect.poll(async () => (await heard(page, 'outcome')).length).toBeGreaterThanOrEqual(3);
  await expect
    // Between two probes: one in flight at the crash would be unknown, and rightly not sent again.
    .poll(() => statusOf(page), { timeout: 20_000 })
    .toMatchObject({ waiting: 20, inFlight: 0, paused: 'unreachable' });
  await expect.poll(() => storedEvents(page)).toHaveLength(20);
  await expect.poll(() => storedFlight(page)).toEqual([]);
  await crash(page);
  await service.start();

  const next = await context.newPage();
  await next.goto(laterPage({ guest, site }, '/'));
  // The relay may still back off; and by the clock of this page the trouble is two minutes old.
  await service.holds({ events: EVENTS }, { pages: [next], within: 75_000 });
});

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

test('repeats under its key what was in flight at a crash, with `idempotencyKey`', async ({
  page,
  context,
  guest,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ idempotencyKey: true, concurrency: HANGING })));
  await service.faults([{ hang: true, after: true, times: 2 }, { hang: true }]);
  await track(page, EVENTS);
  await expect.poll(async () => (await service.requests()).length).toBe(HANGING);
  await expect.poll(() => storedEvents(page)).toHaveLength(20);
  await crash(page);
  await service.faults([]);

  const next = await context.newPage();
  await next.goto(laterPage({ guest, site }, '/', { idempotencyKey: true }));
  await service.holds({ events: EVENTS }, { pages: [next] });
});

test('delivers what was called just before a crash @relay', async ({
  page,
  context,
  guest,
  service,
  site,
}) => {
  // No request yet: what a crash does to one that is just starting is another matter.
  await page.goto(site.page('/', site.tagged({ flushAt: 100, flushInterval: 60_000 })));
  await page.waitForFunction(() => analytics.status().storage === 'indexeddb');
  const crashed = page.waitForEvent('crash');
  const session = await context.newCDPSession(page);
  await session.send('Runtime.enable');
  await page.evaluate((events) => {
    for (const event of events) analytics.event(event);
  }, EVENTS);
  void session.send('Page.crash').catch(() => undefined);
  await crashed;
  await page.close();

  const next = await context.newPage();
  await next.goto(laterPage({ guest, site }, '/'));
  await service.holds({ events: EVENTS }, { pages: [next] });
});

test('delivers after the browser was killed what waited, and counts what was in flight', async ({
  profile,
  guest,
  service,
  site,
}) => {
  const page = (await profile.open()).pages()[0]!;
  await page.goto(site.page('/', site.tagged({ concurrency: HANGING })));
  await service.faults([{ hang: true }]);
  await track(page, EVENTS);
  await expect.poll(async () => (await service.requests()).length).toBe(HANGING);
  await expect.poll(() => storedEvents(page)).toHaveLength(20);
  const hung = (await service.requests()).map(({ body }) => (body as { event: string }).event);
  await profile.kill();
  await service.faults([]);

  const again = (await profile.open()).pages()[0]!;
  await again.goto(laterPage({ guest, site }, '/'));
  const waited = EVENTS.filter((event) => !hung.includes(event));
  await service.holds({ events: waited }, { pages: [again] });
  expect(await statusOf(again)).toMatchObject({ unknown: HANGING });
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

test('delivers everything once after the browser was killed offline @relay', async ({
  profile,
  guest,
  service,
  site,
}) => {
  const context = await profile.open();
  const page = context.pages()[0]!;
  await page.goto(site.page('/', site.tagged()));
  await context.setOffline(true);
  await page.evaluate(() => analytics.identify('user_1', { plan: 'pro' }));
  const times = await track(page, EVENTS);
  await expect.poll(() => storedEvents(page)).toHaveLength(21);
  // Between two attempts: what is in flight would be unknown, and rightly not sent again.
  await expect.poll(() => storedFlight(page)).toEqual([]);
  await profile.kill();

  const again = (await profile.open()).pages()[0]!;
  await again.goto(laterPage({ guest, site }, '/'));
  await service.holds({ events: EVENTS, identifies: ['user_1'] }, { pages: [again] });
  for (const { event, timestamp, user_id } of await service.events()) {
    expect(user_id).toBe('user_1');
    expect(Math.abs(Date.parse(timestamp) - times[event]!)).toBeLessThanOrEqual(250);
  }
});
