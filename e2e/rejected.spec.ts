import { heard, listening } from './support/heard.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const EVENTS = names(20);
const BAD = 'event 7';
const OTHERS = EVENTS.filter((event) => event !== BAD);

test('drops the one of 20 that is answered 400, with a reason, and delivers the others @smoke @relay', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  const body = { code: 400, message: 'Invalid request data' };
  await service.faults([{ match: { event: BAD }, status: 400, body }]);
  await track(page, EVENTS);
  await service.holds({ events: OTHERS }, { pages: [page] });
  const drops = await heard(page, 'drop');
  expect(drops).toMatchObject([{ reason: 'rejected', message: expect.stringContaining('400') }]);
  expect(JSON.parse(drops[0]!.record!.body)).toMatchObject({ event: BAD });
  expect(await statusOf(page)).toMatchObject({ delivered: 19, dropped: { rejected: 1 } });
  // Nor does it come back with the next page.
  await page.reload();
  await service.holds({ events: OTHERS }, { pages: [page] });
  expect(await service.requests()).toHaveLength(20);
});
