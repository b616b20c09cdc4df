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

test('keeps the other tab back, and lets each of them send one probe', async ({
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
