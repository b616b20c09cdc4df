import type { Page } from '@playwright/test';
import { heard, listening } from './support/heard.js';
import { names } from './support/names.js';
import { steadyBackoff } from './support/steady-backoff.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const RETRY_AFTER_MS = 2_000;
const tooMany = { status: 429, headers: { 'retry-after': String(RETRY_AFTER_MS / 1_000) } };
/** How long the service takes in these tests, where it is to be seen what goes beside a probe. */
const ANSWER_MS = 400;

/** A wait is at least this long, and then half as long as the trouble has lasted. */
const SHORTEST_MS = 1_000;
/** A request takes this long at most to reach the service, and its answer to reach the page. */
const LATENCY_MS = 500;

/** Fails unless the time after each failure was half as long as the trouble had lasted by then. */
const expectFullWaits = (requests: readonly { at: number; status?: number }[]): void => {
  requests.slice(1).forEach(({ at }, i) => {
    const { at: failed } = requests[i]!;
    const wait = Math.max(SHORTEST_MS, (failed - requests[0]!.at) / 2);
    expect(at - failed).toBeGreaterThanOrEqual(wait - LATENCY_MS / 2);
    expect(at - failed).toBeLessThanOrEqual(wait + LATENCY_MS);
  });
};

/**
 * Calls one event and waits until its first request has failed. With more of them it would be timing how many go
 * before the first answer.
 */
const trackFirst = async (page: Page, status: number): Promise<void> => {
  await track(page, ['first']);
  await expect
    .poll(async () => (await heard(page, 'outcome'))[0])
    .toMatchObject({ outcome: 'retry', status });
};

test.beforeEach(({ context }) => steadyBackoff(context));

test('waits half as long as the trouble has lasted, one probe at a time, and delivers all @smoke', async ({
  page,
  service,
  site,
}) => {
  await steadyBackoff(page, 1);
  await page.goto(site.page('/', site.tagged({}, listening)));
  await service.faults([{ status: 500, times: 5 }]);
  await trackFirst(page, 500);
  await track(page, names(10));
  await service.holds({ events: ['first', ...names(10)] }, { pages: [page] });
  const requests = await service.requests();
  expect(requests.map(({ status }) => status)).toEqual([
    ...Array(5).fill(500),
    ...Array(11).fill(200),
  ]);
  expectFullWaits(requests.slice(0, 6));
});

test('delivers one record that meets 500 five times within 15 seconds @smoke @relay', async ({
  page,
  service,
  site,
}) => {
  await steadyBackoff(page, 1); // the longest waits
  await page.goto(site.page('/', site.tagged()));
  await service.faults([{ status: 500, times: 5 }]);
  await track(page, ['event']);
  await service.holds({ events: ['event'] }, { pages: [page] });
  const requests = await service.requests();
  expect(requests).toHaveLength(6);
  expect(requests[5]!.at - requests[0]!.at).toBeLessThan(15_000);
});

test('sends nothing for as long as Retry-After says, then one probe, then more @smoke', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  await service.faults([{ ...tooMany, times: 1 }, { delay: ANSWER_MS }]);
  await trackFirst(page, tooMany.status);
  await track(page, names(19));
  await service.holds({ events: ['first', ...names(19)] }, { pages: [page] });
  const requests = await service.requests();
  expect(requests).toHaveLength(21);
  const later = requests.slice(1);
  expect(later[0]!.at - requests[0]!.at).toBeGreaterThanOrEqual(RETRY_AFTER_MS);
  // The probe alone; then two at a time.
  expect(later[1]!.at - later[0]!.at).toBeGreaterThanOrEqual(ANSWER_MS);
  expect(later[3]!.at - later[1]!.at).toBeGreaterThanOrEqual(ANSWER_MS);
  expect(later.at(-1)!.at - later[0]!.at).toBeLessThan(8 * ANSWER_MS);
});

test('takes a date in Retry-After as well', async ({ page, service, site }) => {
  await page.goto(site.page('/', site.tagged()));
  const until = Math.ceil(Date.now() / 1_000) * 1_000 + 2_000;
  const headers = { 'retry-after': new Date(until).toUTCString() };
  await service.faults([{ status: 503, headers, times: 1 }]);
  await track(page, ['event']);
  await service.holds({ events: ['event'] }, { pages: [page] });
  const [, second] = await service.requests();
  expect(second!.at).toBeGreaterThanOrEqual(until);
});

for (const status of [408, 425, 503]) {
  const tag = status === 503 ? ['@smoke'] : [];
  test(`sends again after ${status}`, { tag }, async ({ page, service, site }) => {
    await page.goto(site.page('/', site.tagged({}, listening)));
    // Not a number of times: Chromium itself repeats a request that was answered 408.
    await service.faults([{ status }]);
    await track(page, names(8));
    await expect
      .poll(() => heard(page, 'outcome'))
      .toContainEqual(expect.objectContaining({ outcome: 'retry', status }));
    await service.faults([]);
    await service.holds({ events: names(8) }, { pages: [page] });
    expect(await heard(page, 'drop')).toEqual([]);
  });
}

test('keeps the other tab back, and lets each of them send one probe @relay', async ({
  page,
  context,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged({}, listening));
  const other = await context.newPage();
  await page.goto(address);
  await other.goto(address);
  await service.faults([{ ...tooMany, times: 1 }, { delay: ANSWER_MS }]);
  await trackFirst(page, tooMany.status);
  await track(page, names(5, 'one'));
  await track(other, names(5, 'two'));
  const events = ['first', ...names(5, 'one'), ...names(5, 'two')];
  await service.holds({ events }, { pages: [page, other] });
  const requests = await service.requests();
  expect(requests).toHaveLength(12);
  expect(requests[1]!.at - requests[0]!.at).toBeGreaterThanOrEqual(RETRY_AFTER_MS);
  expect(requests[3]!.at - requests[1]!.at).toBeGreaterThanOrEqual(ANSWER_MS);
});

test('keeps the next page back @relay', async ({ page, service, site }) => {
  const address = site.page('/', site.tagged({}, listening));
  await page.goto(address);
  await service.faults([{ ...tooMany, times: 1 }, { delay: ANSWER_MS }]);
  await trackFirst(page, tooMany.status);
  await page.goto(address);
  await track(page, names(5));
  await service.holds({ events: ['first', ...names(5)] }, { pages: [page] });
  const requests = await service.requests();
  expect(requests).toHaveLength(7);
  expect(requests[1]!.at - requests[0]!.at).toBeGreaterThanOrEqual(RETRY_AFTER_MS);
  expect(requests[2]!.at - requests[1]!.at).toBeGreaterThanOrEqual(ANSWER_MS);
});

test('delivers everything after an outage of the service @relay', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  await service.stop();
  await track(page, names(10));
  await expect.poll(async () => (await heard(page, 'outcome')).length).toBeGreaterThan(2);
  await service.start();
  await service.holds({ events: names(10) }, { pages: [page] });
});
