import { heard, listening } from './support/heard.js';
import { names } from './support/names.js';
import { requestsFor } from './support/requests-for.js';
import { statusOf } from './support/status-of.js';
import { steadyBackoff } from './support/steady-backoff.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const EVENTS = names(20);
const BAD = 'event 7';
const OTHERS = EVENTS.filter((event) => event !== BAD);

const refusals = {
  'is answered 400': { status: 400, body: { code: 400, message: 'Invalid request data' } },
  'is answered 413': { status: 413 },
  'is answered 422': { status: 422 },
  'is answered 200 with `success: false`': { status: 200, body: { success: false, message: 'no' } },
  'is answered 200 with an error code': { status: 200, body: { code: 400, message: 'no' } },
};

/** Through a relay, too: by status, and by what a 200 says. */
const ALSO_BY_RELAY = ['is answered 400', 'is answered 200 with `success: false`'];

for (const [what, answer] of Object.entries(refusals)) {
  const tag = ALSO_BY_RELAY.includes(what) ? ['@smoke', '@relay'] : [];
  const name = `drops the one of 20 that ${what}, with a reason, and delivers the others`;
  test(name, { tag }, async ({ page, service, site }) => {
    await page.goto(site.page('/', site.tagged({}, listening)));
    await service.faults([{ match: { event: BAD }, ...answer }]);
    await track(page, EVENTS);
    await service.holds({ events: OTHERS }, { pages: [page] });
    const drops = await heard(page, 'drop');
    expect(drops).toMatchObject([
      { reason: 'rejected', message: expect.stringContaining(String(answer.status)) },
    ]);
    expect(JSON.parse(drops[0]!.record!.body)).toMatchObject({ event: BAD });
    expect(await statusOf(page)).toMatchObject({
      delivered: 19,
      dropped: { rejected: 1 },
      paused: undefined,
    });
    expect(await requestsFor(service, BAD)).toHaveLength(1);
    // Nor does it come back with the next page.
    await page.reload();
    await service.holds({ events: OTHERS }, { pages: [page] });
    expect(await service.requests()).toHaveLength(20);
  });
}

test('does not let one record that always fails hold up the others @relay', async ({
  page,
  service,
  site,
}) => {
  await steadyBackoff(page);
  await page.goto(site.page('/', site.tagged({}, listening)));
  const [poison, ...others] = EVENTS;
  await service.faults([{ match: { event: poison! }, status: 500 }]);
  const times = await track(page, EVENTS);
  await expect.poll(async () => (await service.events()).length).toBe(19);
  // Beyond the flush itself there is at most the first wait, of a second.
  for (const { event, received_at } of await service.events()) {
    expect(Date.parse(received_at) - times[event]!).toBeLessThan(4_000);
  }
  // A later one overtakes it as well, and it is tried again all the same.
  const tries = (await requestsFor(service, poison!)).length;
  await expect
    .poll(async () => (await requestsFor(service, poison!)).length, { timeout: 20_000 })
    .toBeGreaterThan(tries + 1);
  const [late] = Object.values(await track(page, ['late']));
  await expect.poll(async () => (await service.events()).at(-1)!.event).toBe('late');
  const { received_at } = (await service.events()).at(-1)!;
  // A relay leaves the service alone for a while after four failures in a row, whose record ever they were.
  expect(Date.parse(received_at) - late!).toBeLessThan(10_000);
  await service.faults([]);
  await service.holds({ events: [...others, 'late', poison!] }, { pages: [page] });
  expect(await heard(page, 'drop')).toEqual([]);
});
