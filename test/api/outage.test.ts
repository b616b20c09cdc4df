import { expect, it, vi } from 'vitest';
import { pass, passUntil } from '../support/clock.js';
import { draw, names, openShop, WAYS, type Way } from '../support/shop.js';

/** One visit of somebody who never comes back. All times count from its first call. */
interface Outage {
  /** Requests fail until then. */
  awayMs: number;
  calls: readonly [atMs: number, events: readonly string[]][];
  /** The tab is closed then. */
  closedMs: number;
}

const OUTAGES: Record<string, Outage> = {
  'for 3 s, and the tab is closed at 15 s': {
    awayMs: 3_000,
    calls: [[0, names(20)]],
    closedMs: 15_000,
  },
  'for 3 s, with calls during it and after it': {
    awayMs: 3_000,
    calls: [
      ...names(6, 'during').map((event, i) => [400 * i, [event]] as [number, string[]]),
      ...names(4, 'after').map((event, i) => [4_000 + 400 * i, [event]] as [number, string[]]),
    ],
    closedMs: 12_000,
  },
  'for 8 s, with more calls after it': {
    awayMs: 8_000,
    calls: [
      [0, names(20, 'during')],
      [10_000, names(5, 'after')],
    ],
    closedMs: 30_000,
  },
};

/** What fails, and by which way it is seen. A relay has to bridge what the service does behind it. */
const TROUBLES: [way: Way, where: 'service' | 'relay', how: object][] = [
  ['direct', 'service', { status: 503 }],
  ['direct', 'service', { reset: true }],
  ['with keys', 'service', { status: 503 }],
  ['by relay', 'relay', { status: 503 }],
  ['by relay', 'relay', { reset: true }],
  ['by relay', 'service', { status: 503 }],
  ['by relay', 'service', { reset: true }],
];

/** Each of these with the first outage, and the first of these with each. */
const ROWS = TROUBLES.flatMap(([way, where, how], i) =>
  Object.entries(OUTAGES)
    .slice(0, i ? 1 : undefined)
    .map(([what, outage]) => [way, where, how, what, outage] as const),
);

it.each(ROWS)(
  'one visit delivers all, %s, where the %s fails (%j) %s',
  async (way, where, how, _, { awayMs, calls, closedMs }) => {
    const shop = openShop(way);
    draw(1); // the longest waits
    const { track } = shop.visit();
    shop[where].faults([how]);
    const steps: [atMs: number, run: () => void][] = [
      ...calls.map(([atMs, events]) => [atMs, () => track(events)] as [number, () => void]),
      [awayMs, () => shop[where].faults([])],
    ];
    let time = 0;
    for (const [atMs, run] of steps.sort(([a], [b]) => a - b)) {
      await pass(atMs - time);
      time = atMs;
      run();
    }
    await pass(closedMs - time);
    await shop.leave();
    await pass(2_000);
    const events = calls.flatMap(([, events]) => events);
    expect(shop.service.names().toSorted()).toEqual([...events].sort());
  },
);

it.each(WAYS)('pages that come during it leave to each other what waits, %s', async (way) => {
  const shop = openShop(way);
  const { receiver, visit, holds } = shop;
  receiver.faults([{ status: 503, headers: { 'retry-after': '60' } }]);
  visit().track(names(3, 'left'));
  await pass(2_000);
  const { analytics } = await shop.next();
  analytics.event('own', { userId: 'u' });
  await pass(6_000); // it has looked again
  expect(analytics.status()).toMatchObject({ waiting: 1, elsewhere: 3, paused: 'backoff' });
  receiver.faults([]);
  await holds([...names(3, 'left'), 'own'], 120_000);
  expect(analytics.status()).toMatchObject({ waiting: 0, unknown: 0, dropped: {} });
  await pass(30_000);
  expect(analytics.status()).toMatchObject({ elsewhere: 0 });
});

it('delivers all once where the service behind a relay answers 408, 425, 500 and 503 to some', async () => {
  const { service, visit, holds } = openShop('by relay');
  const failing = [408, 425, 500, 503];
  service.faults(failing.map((status, i) => ({ event: `event ${i}`, status })));
  const { track, analytics, heard } = visit();
  track(names(8));
  await passUntil(() => service.has(names(8).slice(4)));
  // The relay asks for few at first: what it has not tried goes before what has failed.
  expect(heard.outcome.slice(0, 4).map(({ outcome, status }) => [outcome, status])).toEqual(
    failing.map((status) => ['retry', status]),
  );
  service.faults([]);
  await holds(names(8), 60_000);
  expect(analytics.status()).toMatchObject({ delivered: 8, unknown: 0, dropped: {} });
});

it.each([
  ['events', 'direct'],
  ['identifies', 'direct'],
  ['events', 'by relay'],
  ['identifies', 'by relay'],
] as const)(
  'two tabs deliver their %s after an outage in which the laptop slept, %s',
  async (what, way) => {
    const { service, receiver, visit } = openShop(way);
    const tabs = [visit().analytics, visit().analytics];
    const call = (name: string) => {
      for (const [i, tab] of tabs.entries())
        if (what === 'events') tab.event(`${name} ${i}`, { userId: 'u' });
        else tab.identify(`${name} ${i}`, {});
    };
    receiver.faults([{ status: 503 }]);
    call('before');
    await pass(5_000);
    vi.setSystemTime(Date.now() + 70_000); // longer than a lease
    await pass(2_000);
    call('after');
    await pass(60_000);
    receiver.faults([]);
    await passUntil(() => service.names().length >= 4, 120_000);
    expect(new Set(service.names()).size).toBe(4);
  },
);
