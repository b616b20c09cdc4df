import { expect, it } from 'vitest';
import { passUntil } from '../support/clock.js';
import { draw, names, openShop, type Visit, type Way } from '../support/shop.js';

const TIMEOUT_MS = 3_000;
const HUNG = 'event 3';

const outcomesOf = ({ heard }: Visit, unlike = '') =>
  heard.outcome.map(({ outcome }) => outcome).filter((outcome) => outcome !== unlike);

it.each<[Way, object, object]>([
  ['direct', { timeout: TIMEOUT_MS }, {}],
  ['with keys', { timeout: TIMEOUT_MS }, {}],
  ['by relay', {}, { timeout: TIMEOUT_MS }],
])(
  'lets the others pass one event and one identify that hang, and sends these again, %s',
  async (way, options, relayOptions) => {
    const { service, visit, holds } = openShop(way, relayOptions);
    service.faults([
      { event: HUNG, hang: true, times: 1 },
      { user: 'slow', hang: true, times: 1 },
    ]);
    const page = visit(options);
    const { analytics, track } = page;
    const called = Date.now();
    track(names(20));
    analytics.identify('slow', { n: 1 });
    analytics.event('of slow');
    analytics.identify('slow', { n: 2 });
    analytics.identify('quick');
    analytics.event('of quick');
    analytics.event('of nobody', { userId: null });
    const events = [...names(20), 'of slow', 'of quick', 'of nobody'];
    await holds([...events, 'identify slow', 'identify slow', 'identify quick']);
    for (const event of events) {
      const took = service.one(event).at - called;
      if (event === HUNG || event === 'of slow') expect(took).toBeGreaterThanOrEqual(TIMEOUT_MS);
      else expect(took, event).toBeLessThan(2_500);
    }
    const slow = service.stored().filter((body) => body['properties'] && body.user_id === 'slow');
    expect(slow.map((body) => body['properties'])).toEqual([{ n: 1 }, { n: 2 }]);
    expect(service.of(HUNG)).toHaveLength(2);
    // By relay those that wait for the identify are told to come again, too.
    expect(outcomesOf(page, 'delivered')).toEqual(Array(way === 'by relay' ? 4 : 2).fill('retry'));
  },
);

it.each([
  ['never came', { hang: true, times: 1 }, 2],
  ['took too long, twice', { after: true, hang: true, times: 2 }, 3],
  ['was lost', { after: true, delay: 100, reset: true, times: 1 }, 2],
  ['never ended', { endless: true, times: 1 }, 2],
])('is sent again, and the relay stores it once, where the answer %s', async (_, fault, tries) => {
  const { relay, visit, holds } = openShop('by relay');
  draw(0);
  relay.faults([fault]);
  const page = visit({ timeout: 1_000 });
  page.track(names(20));
  await passUntil(() => page.analytics.status().delivered === 20);
  await holds(names(20));
  expect(relay.of('event 0')).toHaveLength(tries);
  const ofFirst = page.heard.outcome.filter(({ record }) => record.body.includes('"event 0"'));
  expect(ofFirst.map(({ outcome }) => outcome)).toEqual([
    ...Array<string>(tries - 1).fill('retry'),
    'delivered',
  ]);
  expect(outcomesOf(page, 'retry')).toEqual(Array(20).fill('delivered'));
  expect(page.analytics.status()).toMatchObject({ delivered: 20, unknown: 0 });
});

it('is delivered by its status where a body never ends, and frees its part of the budget', async () => {
  const { service, visit, holds } = openShop();
  service.faults([{ endless: true }]);
  // Five at a time fit the budget of keepalive.
  const { analytics } = visit({ concurrency: 5 });
  for (const event of names(20)) analytics.event(event, { description: 'x'.repeat(9_000) });
  await holds(names(20), 40_000);
  await passUntil(() => analytics.status().delivered === 20);
  expect(service.requests).toHaveLength(20);
  expect(service.requests.filter(({ init }) => !init.keepalive)).toEqual([]);
});

it('delivers 1,000 events in at most 25 requests by relay', async () => {
  const { relay, visit, holds } = openShop('by relay');
  const { track, analytics } = visit();
  track(names(1_000));
  await holds(names(1_000));
  expect(relay.requests.length).toBeLessThanOrEqual(25);
  expect(analytics.status()).toMatchObject({ delivered: 1_000, unknown: 0, dropped: {} });
});
