import { heard, listening } from './support/heard.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

test('delivers from memory where the quota is used up', async ({
  page,
  context,
  service,
  site,
}) => {
  const session = await context.newCDPSession(page);
  await session.send('Storage.overrideQuotaForOrigin', { origin: site.url, quotaSize: 1 });
  await page.goto(site.page('/', site.tagged({}, listening)));
  await track(page, names(10));
  await service.holds({ events: names(10) }, { pages: [page] });
  await expect.poll(async () => (await statusOf(page)).storage).toBe('memory');
  expect((await heard(page, 'storage')).map(({ storage }) => storage)).toContain('memory');
});
