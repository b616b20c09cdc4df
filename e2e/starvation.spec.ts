import { names } from './support/names.js';
import { stopAtRest } from './support/stop-at-rest.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const VISITS = 3;

test('fresh events pass one record that is always answered 403, in every visit @smoke', async ({
  page,
  service,
  site,
}) => {
  await service.faults([{ match: { event: 'bad' }, status: 403 }]);
  const fresh: string[] = [];
  for (let visit = 0; visit < VISITS; visit++) {
    await page.goto(site.page(`/visit-${visit}`, site.tagged()));
    if (!visit) await track(page, ['bad']);
    fresh.push(...names(2, `visit ${visit}, event`));
    await track(page, fresh.slice(-2));
    await expect.poll(async () => (await service.events()).length).toBe(fresh.length);
    await stopAtRest(page);
  }
  // It is kept, and delivered once it is liked.
  await service.faults([]);
  await page.goto(site.page('/last', site.tagged()));
  await service.holds({ events: [...fresh, 'bad'] }, { pages: [page] });
});
