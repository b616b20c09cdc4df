import type { Page } from '@playwright/test';
import { names } from './support/names.js';
import { givePrivacyControl, setPrivacyControl } from './support/privacy-control.js';
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

test('follows Global Privacy Control as the page comes back, and tells of it', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ respectGpc: true }, { attributes: '' })));
  await page.evaluate(() => {
    analytics.on('consent', ({ consent }) => (document.title += ` ${consent}`));
  });
  const comeBack = () => page.evaluate(() => document.dispatchEvent(new Event('resume')));
  await track(page, ['before']);
  await service.holds({ events: ['before'] }, { pages: [page] });
  await setPrivacyControl(page, true);
  await comeBack();
  await track(page, ['denied']);
  await expect.poll(async () => (await traces(page)).local).toEqual({});
  expect(await storedEvents(page)).toEqual([]);
  await setPrivacyControl(page, false);
  await comeBack();
  await track(page, ['after']);
  await service.holds({ events: ['before', 'after'] }, { pages: [page] });
  await expect(page).toHaveTitle('A page denied granted');
});

test("keeps the visitor's own denial when Global Privacy Control ends", async ({
  page,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged({ respectGpc: true }));
  await page.goto(`${address}?gpc`);
  await setConsent(page, 'denied');
  await page.goto(address);
  await track(page, ['denied']);
  expect(await statusOf(page)).toMatchObject({ consent: 'denied' });
  await setConsent(page, 'granted');
  await track(page, ['granted']);
  await service.holds({ events: ['granted'] }, { pages: [page] });
});

test('takes no notice of Global Privacy Control without the option', async ({
  page,
  service,
  site,
}) => {
  await page.goto(`${site.page('/', site.tagged())}?gpc`);
  await track(page, ['one']);
  await service.holds({ events: ['one'] }, { pages: [page] });
});

test('follows the option when `init` is called again', async ({ page, service, site }) => {
  await page.goto(`${site.page('/', site.tagged())}?gpc`);
  await track(page, ['before']);
  await service.holds({ events: ['before'] }, { pages: [page] });
  await page.evaluate(
    ({ url: baseUrl, token }) =>
      analytics.init({ baseUrl, token, project: 'p', channel: 'c', respectGpc: true }),
    { url: service.url, token: service.token },
  );
  await track(page, ['denied']);
  expect(await statusOf(page)).toMatchObject({ consent: 'denied' });
  await service.holds({ events: ['before'] }, { pages: [page] });
});
