import { listening } from '../support/heard.js';
import { BARE } from '../support/leave.js';
import { names } from '../support/names.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

test.use({ mode: 'relay' });

test('keeps one connection busy, so that a link works, and leaves the others to the next page', async ({
  page,
  relay,
  service,
  site,
}) => {
  const next = site.page('/next', BARE);
  const link = { body: `<a href="${next}">Next</a>` };
  await page.goto(site.page('/', site.tagged({ flushAt: 1 }, { ...listening, ...link })));
  relay.faults([{ hang: true }]);
  for (const event of names(8)) {
    await track(page, [event]);
    await page.evaluate(() => void analytics.flush());
  }
  await expect.poll(() => relay.requests.length).toBe(1);
  await page.getByRole('link', { name: 'Next' }).click();
  await page.waitForURL(next);
  // The rest was given to the browser as the page went.
  expect(relay.requests.filter(({ isBeacon }) => !isBeacon)).toHaveLength(1);
  relay.faults([]);
  await page.goto(site.page('/after', site.tagged()));
  await service.holds({ events: names(8) }, { pages: [page] });
});
