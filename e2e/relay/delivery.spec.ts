import { heard, listening } from '../support/heard.js';
import { names } from '../support/names.js';
import { statusOf } from '../support/status-of.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

test.use({ mode: 'relay' });

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
