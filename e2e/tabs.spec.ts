import { freezing } from './support/freeze.js';
import { heard, listening } from './support/heard.js';
import { later } from './support/later.js';
import { names } from './support/names.js';
import { trackRefused } from './support/refused.js';
import { rests } from './support/rests.js';
import { statusOf } from './support/status-of.js';
import { storedEvents } from './support/stored-records.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

test('takes over what a closed tab has left', async ({ page, context, service, site }) => {
  await context.clock.install();
  const address = site.page('/', site.tagged({}, listening));
  const others = [await context.newPage(), await context.newPage()];
  await page.goto(address);
  for (const other of others) await other.goto(address);
  const refused = await trackRefused({ page, service }, names(10));
  await page.close({ runBeforeUnload: true });
  await track(others[0]!, ['of another']);
  // The time of a parcel, a look for what others have left, and the penalty with as much again of jitter on top: all in
  // one, since the clocks of the tabs do not move at exactly the same time.
  await context.clock.fastForward(123_000);
  await service.holds({ events: [...names(10), 'of another'] }, { pages: others });
  expect(await service.requests()).toHaveLength(refused + 11);
});

test('lets a frozen tab go on that nobody has taken over from', async ({
  page,
  guest,
  service,
  site,
}) => {
  const frozen = freezing(site, guest);
  await page.goto(site.page('/', site.tagged(frozen.options, { head: frozen.head })));
  const refused = await trackRefused({ page, service }, names(10));
  await (
    await frozen.freeze(page)
  )();
  await service.holds({ events: names(10) }, { pages: [page] });
  expect(await service.requests()).toHaveLength(refused + 10);
});

test('does not repeat what a frozen tab had in flight', async ({
  page,
  context,
  guest,
  service,
  site,
}) => {
  const frozen = freezing(site, guest);
  const ahead = later(guest);
  const style = { ...listening, head: ahead.head };
  await page.goto(site.page('/', site.tagged(frozen.options, { head: frozen.head })));
  await service.faults([{ delay: 6_000, times: 6 }]);
  await track(page, names(10));
  await expect.poll(async () => (await service.requests()).length).toBe(6);
  await expect.poll(() => statusOf(page)).toMatchObject({ waiting: 4, inFlight: 6 });
  const thaw = await frozen.freeze(page);

  const other = await context.newPage();
  await other.goto(site.page('/later', site.tagged(ahead.options, style)));
  await expect.poll(() => statusOf(other)).toMatchObject({ unknown: 6 });
  await service.holds({ events: names(10) }, { pages: [other] });
  await thaw();
  await track(page, ['after the thaw']);
  await service.holds({ events: [...names(10), 'after the thaw'] }, { pages: [page, other] });
  expect(await service.requests()).toHaveLength(11);
  expect((await heard(other, 'outcome')).map(({ outcome }) => outcome).sort()).toEqual([
    ...Array<string>(4).fill('delivered'),
    ...Array<string>(6).fill('unknown'),
  ]);
});

test('stores what a tab calls while another reads the same outbox @relay', async ({
  page,
  context,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged());
  await page.goto(address);
  await context.setOffline(true);
  await track(page, names(300));
  await expect.poll(() => storedEvents(page)).toHaveLength(300);
  await rests(page);
  await page.goto('about:blank');
  await context.setOffline(false);
  const other = await context.newPage();
  await page.goto(address);
  await other.goto(address);
  await track(other, names(20, 'other'));
  await page.reload();
  await service.holds({ events: [...names(300), ...names(20, 'other')] }, { pages: [page, other] });
});
