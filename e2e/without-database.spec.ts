import { breakStorage } from './support/break-storage.js';
import { fillShelf } from './support/fill-shelf.js';
import { laterPage } from './support/later.js';
import { BARE } from './support/leave.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';

/** Characters that the site leaves free. A page leaves four times as many, in a note, where there is room. */
const FREE = 65_536;
/** Events of 4 KB each: more than a note has room for. The last parcel, of twenty at the most, has ten. */
const EVENTS = names(110);

test('a page without a database leaves what fits beside the site in localStorage, and tells the rest', async ({
  page,
  context,
  guest,
  service,
  site,
}) => {
  await breakStorage(context, 'is missing');
  await service.faults([{ status: 503, headers: { 'retry-after': '60' } }]);
  await page.goto(site.page('/', site.tagged()));
  await page.evaluate((events) => {
    for (const event of events) analytics.event(event, { description: 'x'.repeat(4_000) });
  }, EVENTS);
  await expect
    .poll(() => statusOf(page))
    .toMatchObject({ storage: 'memory', paused: 'backoff', waiting: EVENTS.length, inFlight: 0 });
  await page.evaluate((free) => {
    // What the page drops while it goes is told to the next page by the tab.
    const dropped: string[] = [];
    analytics.on('drop', ({ reason, record }) => {
      dropped.push(`${reason} ${(JSON.parse(record!.body) as { event: string }).event}`);
    });
    document.addEventListener('visibilitychange', () => {
      sessionStorage.setItem('dropped', JSON.stringify(dropped));
    });
    sessionStorage.setItem('dropped', '[]');
    localStorage.setItem('room', 'x'.repeat(free));
  }, FREE);
  await fillShelf(page);
  await page.evaluate(() => localStorage.removeItem('room'));
  await page.goto(site.page('/bare', BARE));
  const dropped = (
    await page.evaluate(() => JSON.parse(sessionStorage['dropped'] as string) as string[])
  ).toSorted();
  expect(dropped).toHaveLength(100);
  const oldest = EVENTS.slice(0, dropped.length);
  expect(dropped).toEqual(oldest.map((event) => `outbox-full ${event}`).sort());
  await service.faults([]);
  await page.goto(laterPage({ guest, site }, '/later'));
  await service.holds({ events: EVENTS.slice(dropped.length) }, { pages: [page] });
});
