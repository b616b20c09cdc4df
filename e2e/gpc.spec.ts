import type { Page } from '@playwright/test';
import { names } from './support/names.js';
import { givePrivacyControl } from './support/privacy-control.js';
import { statusOf } from './support/status-of.js';
import { storedEvents } from './support/stored-records.js';
import { expect, test } from './support/test.js';
import { NO_TRACE, traces } from './support/traces.js';
import { track } from './support/track.js';

const setConsent = (page: Page, consent: 'granted' | 'denied') =>
  page.evaluate((consent) => analytics.setConsent(consent), consent);

test.beforeEach(({ context }) => givePrivacyControl(context));

test('stores and sends nothing while Global Privacy Control is on, whatever is said @smoke', async ({
  page,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged({ respectGpc: true }));
  await page.goto(`${address}?gpc`);
  await track(page, ['one']);
  await setConsent(page, 'granted');
  await track(page, ['two']);
  await page.evaluate(() => analytics.flush());
  expect(await statusOf(page)).toMatchObject({
    consent: 'denied',
    storage: 'none',
    dropped: { 'consent-denied': 2 },
  });
  await page.reload();
  expect(await traces(page)).toEqual(NO_TRACE);
  await page.goto(address);
  await track(page, ['after']);
  await service.holds({ events: ['after'] }, { pages: [page] });
});

test('deletes what is stored when Global Privacy Control goes on, and goes on when it ends', async ({
  page,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged({ respectGpc: true }));
  await page.goto(address);
  await page.evaluate(() => analytics.identify('user_1'));
  await service.holds({ events: [], identifies: ['user_1'] }, { pages: [page] });
  await service.stop();
  await track(page, names(5));
  await expect.poll(() => storedEvents(page)).toHaveLength(5);
  await page.goto(`${address}?gpc`);
  await expect.poll(() => traces(page)).toEqual(NO_TRACE);
  await service.start();
  await page.goto(address);
  await track(page, ['after']);
  await service.holds({ events: ['after'], identifies: ['user_1'] }, { pages: [page] });
  expect((await service.events())[0]!.user_id).toBe(null);
});
