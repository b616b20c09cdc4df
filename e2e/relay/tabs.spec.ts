import type { Page } from '@playwright/test';
import { freezing } from '../support/freeze.js';
import { later } from '../support/later.js';
import { names } from '../support/names.js';
import { storedEvents } from '../support/stored-records.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

test.use({ mode: 'relay' });

const statusOf = (page: Page) => page.evaluate(() => analytics.status());

test('stores once what a frozen tab had in flight, and another tab sends again', async ({
  page,
  context,
  guest,
  relay,
  service,
  site,
}) => {
  const frozen = freezing(site, guest);
  const ahead = later(guest);
  await page.goto(site.page('/', site.tagged(frozen.options, { head: frozen.head })));
  relay.faults([{ after: true, delay: 3_000, times: 1 }]);
  await track(page, names(10));
  await expect.poll(() => relay.requests.length).toBe(1);
  await expect.poll(() => storedEvents(page)).toHaveLength(10);
  const thaw = await frozen.freeze(page);

  const other = await context.newPage();
  await other.goto(site.page('/later', site.tagged(ahead.options, { head: ahead.head })));
  await expect.poll(() => statusOf(other)).toMatchObject({ delivered: 10, unknown: 0 });
  await thaw();
  await track(page, ['after the thaw']);
  await service.holds({ events: [...names(10), 'after the thaw'] }, { pages: [page, other] });
  expect(await storedEvents(page)).toEqual([]);
});
