import type { Page } from '@playwright/test';
import { heard, listening } from '../support/heard.js';
import { names } from '../support/names.js';
import { statusOf } from '../support/status-of.js';
import { CHANNEL, expect, test } from '../support/test.js';
import { track } from '../support/track.js';

test.use({ mode: 'relay' });

/** Longer than any wait of a record that was blocked. */
const LATER_MS = 301_000;

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

test('keeps the events of a channel that the relay does not list yet, and sends others meanwhile', async ({
  page,
  relay,
  service,
  site,
}) => {
  await page.clock.install();
  await page.goto(site.page('/', site.tagged({}, listening)));
  await trackIn(page, 'growth', names(3, 'new'));
  await expect.poll(() => blocked(page)).toBe(3);
  // Nothing has passed yet, so it is not the others that vouch for the relay.
  await track(page, names(20));
  await service.holds({ events: names(20) });
  await trackIn(page, 'growth', names(2, 'newer'));
  await expect.poll(() => blocked(page)).toBe(5);
  expect(await statusOf(page)).toMatchObject({ waiting: 5, delivered: 20, dropped: {} });
  expect(await heard(page, 'error')).toEqual([
    { kind: 'setup', status: 403, message: 'the relay: channel not listed' },
  ]);
  expect(relay.errors).toEqual([
    { kind: 'unlisted', message: 'channel "growth" is not in the list `channels`' },
  ]);

  relay.deploy({ channels: [CHANNEL, 'growth'] });
  await page.clock.fastForward(LATER_MS);
  const events = [...names(20), ...names(3, 'new'), ...names(2, 'newer')];
  await service.holds({ events }, { pages: [page] });
  expect(await heard(page, 'drop')).toEqual([]);
  expect(relay.errors).toHaveLength(1);
});

test('keeps them for the next page, also those that a beacon has carried', async ({
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
