import { heard, listening, sentTimes } from '../support/heard.js';
import { names } from '../support/names.js';
import { statusOf } from '../support/status-of.js';
import { steadyBackoff } from '../support/steady-backoff.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

test.use({ mode: 'relay' });

const TIMEOUT_MS = 3_000;

test('delivers 1,000 events in at most 25 requests', async ({ page, relay, service, site }) => {
  await page.goto(site.page('/', site.tagged()));
  await track(page, names(1_000));
  await service.holds({ events: names(1_000) }, { pages: [page] });
  expect(relay.requests.length).toBeLessThanOrEqual(25);
  expect(await statusOf(page)).toMatchObject({ delivered: 1_000, unknown: 0, dropped: {} });
});

test('stores once what is sent again because the answer was lost @smoke', async ({
  page,
  relay,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged()));
  relay.faults([{ after: true, reset: true, times: 1 }]);
  await track(page, names(20));
  await service.holds({ events: names(20) }, { pages: [page] });
  expect(relay.requests.length).toBeGreaterThan(1);
  expect(await statusOf(page)).toMatchObject({ delivered: 20, unknown: 0 });
});

test('stores once what is sent again because the answer took too long', async ({
  page,
  relay,
  service,
  site,
}) => {
  await steadyBackoff(page);
  await page.goto(site.page('/', site.tagged({ timeout: 1_000 })));
  relay.faults([{ after: true, hang: true, times: 2 }]);
  await track(page, names(20));
  await service.holds({ events: names(20) }, { pages: [page] });
  const ofFirst = relay.requests.filter(({ events }) => events.includes('event 0'));
  expect(ofFirst).toHaveLength(3);
});

test('sends a batch that hangs again after its timeout, and others with it', async ({
  page,
  relay,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ timeout: TIMEOUT_MS }, listening)));
  relay.faults([{ hang: true, times: 1 }]);
  await track(page, names(20));
  await expect.poll(() => relay.requests.length).toBe(1);
  await track(page, names(20, 'other'));
  await service.holds({ events: [...names(20), ...names(20, 'other')] }, { pages: [page] });
  const [first, ...others] = relay.requests;
  const again = others.flatMap(({ ids }) => ids).filter((id) => first!.ids.includes(id));
  expect(again.sort()).toEqual(first!.ids.toSorted());
  // By the page: how long a request is on its way to the relay says nothing of the timeout.
  const [started, startedAgain] = await sentTimes(page, 'event 0');
  expect(startedAgain! - started!).toBeGreaterThanOrEqual(TIMEOUT_MS - 50);
});

test('waits as long as the relay says, also for the service', async ({
  page,
  relay,
  service,
  site,
}) => {
  await steadyBackoff(page);
  await page.goto(site.page('/', site.tagged()));
  await service.faults([{ status: 429, headers: { 'retry-after': '2' }, times: 1 }]);
  await track(page, ['one']);
  await service.holds({ events: ['one'] }, { pages: [page] });
  expect(relay.requests[1]!.at - relay.requests[0]!.at).toBeGreaterThanOrEqual(2_000);
  relay.faults([{ status: 429, headers: { 'retry-after': '1' }, times: 1 }]);
  await track(page, ['two']);
  await service.holds({ events: ['one', 'two'] }, { pages: [page] });
  expect(relay.requests).toHaveLength(4);
  expect(relay.requests[3]!.at - relay.requests[2]!.at).toBeGreaterThanOrEqual(1_000);
});

test('delivers all once after five answers of 500, 502 and 503', async ({
  page,
  relay,
  service,
  site,
}) => {
  await steadyBackoff(page);
  await page.goto(site.page('/', site.tagged()));
  relay.faults([500, 502, 503, 502, 500].map((status) => ({ status, times: 1 })));
  await track(page, names(60));
  await service.holds({ events: names(60) }, { pages: [page] });
  expect(await statusOf(page)).toMatchObject({ delivered: 60, dropped: {} });
});

test('delivers all once where the service answers 408, 425, 500 and 503 to some', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  const failing = [408, 425, 500, 503];
  await service.faults(failing.map((status, i) => ({ match: { event: `event ${i}` }, status })));
  await track(page, names(8));
  await service.holds({ events: names(8).slice(4) });
  // The relay asks for few at first: what it has not tried goes before what has failed.
  const outcomes = (await heard(page, 'outcome')).map(({ outcome, status = 0 }) => [
    outcome,
    status,
  ]);
  expect(outcomes.slice(0, 4)).toEqual(failing.map((status) => ['retry', status]));
  expect(outcomes.filter(([outcome]) => outcome === 'delivered')).toHaveLength(4);
  await service.faults([]);
  await service.holds({ events: names(8) }, { pages: [page] });
  expect(await statusOf(page)).toMatchObject({ delivered: 8, unknown: 0, dropped: {} });
});

test('delivers all once through an outage of the service @smoke', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  await service.stop();
  await track(page, names(20));
  await expect
    .poll(async () => (await heard(page, 'outcome')).length, { timeout: 20_000 })
    .toBeGreaterThan(0);
  await service.start();
  await service.holds({ events: names(20) }, { pages: [page], within: 40_000 });
  expect(await heard(page, 'drop')).toEqual([]);
});

for (const status of [400, 413]) {
  test(`loses nothing where something before the relay answers large batches ${status}`, async ({
    page,
    relay,
    service,
    site,
  }) => {
    await page.goto(site.page('/', site.tagged()));
    relay.faults([{ status, from: 2 }]);
    await track(page, names(60));
    await service.holds({ events: names(60) }, { pages: [page] });
    expect(await statusOf(page)).toMatchObject({ delivered: 60, dropped: {} });
  });
}

test('sends one record that spoils its batch with half as many others each time, and alone in the end', async ({
  page,
  relay,
  service,
  site,
}) => {
  test.slow();
  const bad = 'event 25';
  const others = names(50).filter((event) => event !== bad);
  await steadyBackoff(page);
  await page.goto(site.page('/', site.tagged()));
  relay.faults([{ event: bad, status: 403 }]);
  await track(page, names(50));
  const sizes = () =>
    relay.requests.flatMap(({ events }) => (events.includes(bad) ? [events.length] : []));
  await expect.poll(sizes, { timeout: 45_000 }).toContain(1);
  sizes().forEach((size, attempts) => {
    expect(size).toBeLessThanOrEqual(Math.max(1, 50 >> attempts));
  });
  await service.holds({ events: others });
  await expect
    .poll(() => statusOf(page))
    .toMatchObject({ delivered: 49, waiting: 1, inFlight: 0, dropped: {} });
});

test('keeps everything while the relay refuses the page, and says so once', async ({
  page,
  relay,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  relay.faults([{ status: 403 }]);
  await track(page, names(5));
  await expect.poll(async () => (await statusOf(page)).paused).toBe('setup');
  expect(await heard(page, 'error')).toEqual([
    { kind: 'setup', status: 403, message: expect.stringContaining('/a/v1/batch: 403') },
  ]);
  relay.faults([]);
  await page.reload();
  await service.holds({ events: names(5) }, { pages: [page] });
});
