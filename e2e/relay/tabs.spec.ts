import { freezing } from '../support/freeze.js';
import { laterPage } from '../support/later.js';
import { names } from '../support/names.js';
import { statusOf } from '../support/status-of.js';
import { storedEvents } from '../support/stored-records.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

test.use({ mode: 'relay' });

test('stores once what a frozen tab had in flight, and another tab sends again', async ({
  page,
  context,
  guest,
  relay,
  service,
  site,
}) => {
  const frozen = freezing(site, guest);
  await page.goto(site.page('/', site.tagged(frozen.options, { head: frozen.head })));
  relay.faults([{ after: true, delay: 6_000, times: 1 }]);
  await track(page, names(10));
  await expect.poll(() => relay.requests.length).toBe(1);
  await expect.poll(() => storedEvents(page)).toHaveLength(10);
  const thaw = await frozen.freeze(page);

  const other = await context.newPage();
  await other.goto(laterPage({ guest, site }, '/later'));
  await expect.poll(() => statusOf(other)).toMatchObject({ delivered: 10, unknown: 0 });
  await thaw();
  await track(page, ['after the thaw']);
  await service.holds({ events: [...names(10), 'after the thaw'] }, { pages: [page, other] });
  expect(await storedEvents(page)).toEqual([]);
});

test('takes over what a closed tab has left', async ({ page, context, relay, service, site }) => {
  await context.clock.install();
  const address = site.page('/', site.tagged());
  const others = [await context.newPage(), await context.newPage()];
  await page.goto(address);
  for (const other of others) await other.goto(address);
  relay.faults([{ status: 503, headers: { 'retry-after': '60' }, times: 1 }]);
  await track(page, names(10));
  await expect.poll(() => statusOf(page)).toMatchObject({ waiting: 10, paused: 'backoff' });
  await page.close({ runBeforeUnload: true });
  await track(others[0]!, ['of another']);
  // The time of a parcel, a look for what others have left, and the penalty with as much again of jitter on top.
  await context.clock.fastForward(123_000);
  await service.holds({ events: [...names(10), 'of another'] }, { pages: others });
  const [refused, ...rest] = relay.requests.map(({ events }) => events);
  expect(refused).toHaveLength(10);
  expect(rest.flat()).toHaveLength(11);
});
