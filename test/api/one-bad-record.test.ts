import { describe, expect, it } from 'vitest';
import { pass, passUntil } from '../support/clock.js';
import { draw, names, openShop, type Way } from '../support/shop.js';
import type { Fault } from '../support/service.js';

const BAD = 'bad';
const VISIT_MS = 6_000;
/** So long after its last attempt a record is tried again. */
const LONGEST_WAIT_MS = 301_000;

type Where = 'service' | 'relay';

/** Who dislikes one record: a firewall before the relay knows only the whole batch. */
const DISLIKES: [way: Way, where: Where, status: number][] = [
  ...[403, 429, 500].flatMap((status): [Way, Where, number][] => [
    ['direct', 'service', status],
    ['with keys', 'service', status],
    ['by relay', 'service', status],
  ]),
  ...[403, 429].map((status): [Way, Where, number] => ['by relay', 'relay', status]),
];

it.each(DISLIKES)(
  'fresh events pass one record in every visit, %s, where the %s always answers it %i',
  async (way, where, status) => {
    const shop = openShop(way);
    const { service } = shop;
    shop[where].faults([{ event: BAD, status }]);
    let { track, analytics } = shop.visit();
    track([BAD]);
    const fresh: string[] = [];
    for (let visit = 0; visit < 3; visit++) {
      if (visit) ({ track, analytics } = await shop.next());
      const events = names(2, `visit ${visit}, event`);
      track(events);
      fresh.push(...events);
      await passUntil(() => service.has(events), VISIT_MS);
      await passUntil(() => !analytics.status().inFlight);
    }
    expect(service.names().toSorted()).toEqual(fresh.toSorted());
    expect(analytics.status()).toMatchObject({ dropped: {} });
    // It is kept, and delivered once it is liked.
    shop[where].faults([]);
    await shop.next();
    await shop.holds([...fresh, BAD], 45_000);
  },
);

it.each<[Way, Where]>([
  ['direct', 'service'],
  ['by relay', 'relay'],
])('tries one record ever more rarely, however many pages are opened, %s', async (way, where) => {
  const shop = openShop(way);
  draw(1);
  shop[where].faults([{ event: BAD, status: 403 }]);
  let { track, analytics } = shop.visit();
  track([BAD]);
  const tries = () => shop[where].of(BAD).map(({ at }) => at);
  await passUntil(() => tries().length);
  for (let visit = 0; tries().at(-1)! - tries()[0]! < 20_000; visit++) {
    // It passes, so that no pause of the destination holds back the other.
    track([`visit ${visit}`]);
    await passUntil(() => shop.service.has([`visit ${visit}`]));
    await passUntil(() => !analytics.status().inFlight);
    analytics.stop(); // or a relay, which knows repeats, would get it once more as the page is left
    ({ track, analytics } = await shop.next());
  }
  const times = tries();
  expect(times.length).toBeGreaterThan(5);
  times.slice(1).forEach((at, i) => {
    expect(at - times[i]!).toBeGreaterThanOrEqual(Math.max(1_000, (times[i]! - times[0]!) / 2));
  });
});

it.each<Way>(['direct', 'with keys'])(
  'sends an event at once though one record has failed for an hour, %s',
  async (way) => {
    const { site, service, visit, holds } = openShop(way);
    service.faults([{ event: BAD, status: 403 }]);
    const { track, analytics } = visit();
    track([BAD]);
    await passUntil(() => service.of(BAD).length);
    track(['first']);
    await passUntil(() => service.has(['first']));
    for (let i = 0; i < 12; i++) {
      const before = service.of(BAD).length;
      await pass(LONGEST_WAIT_MS);
      expect(service.of(BAD).length).toBeGreaterThan(before);
    }
    track(['late']);
    await passUntil(() => service.has(['late']), VISIT_MS);
    await passUntil(() => !analytics.status().inFlight);
    // Also if it is called as the page goes.
    track(['last']);
    site.say(site.win, 'pagehide');
    site.hide();
    await holds(['first', 'late', 'last']);
  },
);

it('sends one record that spoils its batch with half as many others each time, and alone in the end', async () => {
  const { service, relay, visit } = openShop('by relay');
  draw(0);
  const bad = 'event 25';
  const others = names(50).filter((event) => event !== bad);
  relay.faults([{ event: bad, status: 403 }]);
  const { track, analytics } = visit();
  track(names(50));
  const sizes = () => relay.of(bad).map((request) => request.names.length);
  await passUntil(() => sizes().includes(1), 60_000);
  sizes().forEach((size, attempts) => {
    expect(size).toBeLessThanOrEqual(Math.max(1, 50 >> attempts));
  });
  await passUntil(() => service.has(others), 60_000);
  expect(analytics.status()).toMatchObject({ delivered: 49, dropped: {} });
});

it.each([400, 413])(
  'loses nothing where something before the relay answers large batches %i',
  async (status) => {
    const { relay, visit, holds } = openShop('by relay');
    relay.faults([{ status, from: 2 }]);
    const { track, analytics } = visit();
    track(names(30));
    await holds(names(30), 120_000);
    expect(analytics.status()).toMatchObject({ delivered: 30, dropped: {} });
  },
);

describe('drops the one of 20 that the service refuses, with a reason, and delivers the others', () => {
  const REFUSED = { status: 422, body: { code: 422, message: 'icon may be one emoji' } };
  const rows: [way: Way, answer: Fault, message: string][] = [
    ['direct', { status: 400, body: { code: 400, message: 'Invalid request data' } }, '400'],
    ['direct', { status: 413 }, '413'],
    ['direct', { status: 200, body: { code: 400, message: 'no' } }, '200'],
    ['with keys', { status: 200, body: { success: false, message: 'no' } }, '200'],
    ['by relay', { status: 200, body: { success: false, message: 'no' } }, '200'],
    // In the service's own words, by relay as well.
    ['direct', REFUSED, 'icon may be one emoji'],
    ['by relay', REFUSED, 'the relay: 422 icon may be one emoji'],
  ];
  it.each(rows)('%s, %j', async (way, answer, message) => {
    const shop = openShop(way);
    const { service } = shop;
    service.faults([{ event: 'event 7', ...answer }]);
    const { track, heard, analytics } = shop.visit();
    track(names(20));
    const flushed = analytics.flush();
    const others = names(20).filter((event) => event !== 'event 7');
    await shop.holds(others);
    expect(await flushed).toMatchObject({ delivered: 19, rejected: 1, waiting: 0 });
    expect(heard.drop).toMatchObject([
      { reason: 'rejected', message: expect.stringContaining(message) as string },
    ]);
    expect(JSON.parse(heard.drop[0]!.record!.body)).toMatchObject({ event: 'event 7' });
    expect(analytics.status()).toMatchObject({ delivered: 19, dropped: { rejected: 1 } });
    expect(analytics.status().paused).toBeUndefined();
    // Nor does it come back with the next page.
    await shop.next();
    await shop.holds(others);
    expect(service.of('event 7')).toHaveLength(1);
  });
});
