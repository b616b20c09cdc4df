import type { Page } from '@playwright/test';
import { heard, listening } from '../support/heard.js';
import { names } from '../support/names.js';
import { CHANNEL, expect, test } from '../support/test.js';

test.use({ mode: 'relay' });

const trackIn = (page: Page, channel: string, events: readonly string[]) =>
  page.evaluate(
    ([channel, events]) => events.forEach((event) => analytics.event(event, { channel })),
    [channel, events] as const,
  );
/** How many records were blocked, once or more. */
const blocked = async (page: Page) => {
  const outcomes = await heard(page, 'outcome');
  const ids = outcomes.flatMap(({ record, outcome }) => (outcome === 'blocked' ? record.id : []));
  return new Set(ids).size;
};

test('keeps the events of a channel that the relay does not list for the next page, also those that a beacon has carried', async ({
  page,
  relay,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  await trackIn(page, 'growth', names(3, 'new'));
  await expect.poll(() => blocked(page)).toBe(3);
  const next = site.page('/next', site.tagged());
  await page.evaluate((next) => {
    addEventListener('pagehide', () => analytics.event('last', { channel: 'growth' }));
    location.href = next;
  }, next);
  await page.waitForURL(next);
  await expect.poll(() => relay.requests.flatMap(({ events }) => events)).toContain('last');
  expect(await service.events()).toEqual([]);

  relay.deploy({ channels: [CHANNEL, 'growth'] });
  await page.reload();
  await service.holds({ events: [...names(3, 'new'), 'last'] }, { pages: [page] });
});
