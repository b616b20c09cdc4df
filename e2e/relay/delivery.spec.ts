import { heard, listening } from '../support/heard.js';
import { names } from '../support/names.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

test.use({ mode: 'relay' });

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
