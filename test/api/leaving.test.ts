import { describe, expect, it } from 'vitest';
import { pass, passUntil, settle } from '../support/clock.js';
import { draw, names, openShop, WAYS, type Way } from '../support/shop.js';

const REPEATABLE: Way[] = ['with keys', 'by relay'];

describe.each(WAYS)('a page that is left, %s', (way) => {
  it.each([true, false])(
    'while requests are under way: none is stored twice, where the service had stored them: %s',
    async (after) => {
      const shop = openShop(way);
      const { receiver, service } = shop;
      receiver.faults([{ after, hang: true }]);
      const { track } = shop.visit({ flushAt: 1 });
      track(names(3));
      await passUntil(() => receiver.requests.flatMap((request) => request.names).length === 3);
      await settle();
      receiver.faults([]);
      const { analytics } = await shop.next();
      const isRepeated = REPEATABLE.includes(way);
      await shop.holds(after || isRepeated ? names(3) : []);
      await pass(60_000);
      expect(service.names()).toHaveLength(after || isRepeated ? 3 : 0);
      // Nobody knows what became of them; what knows repeats is sent again under the same key.
      expect(analytics.status()).toMatchObject(isRepeated ? { delivered: 3 } : { unknown: 3 });
    },
  );

  it('while the service is known to fail hands off what may be sent again, and leaves the rest', async () => {
    const shop = openShop(way);
    const { receiver, service } = shop;
    draw(1);
    receiver.faults([{ status: 503 }]);
    const { analytics, track } = shop.visit();
    track(['first']);
    await passUntil(() => analytics.status().nextAttempt! - Date.now() > 1_000);
    await passUntil(() => !analytics.status().inFlight);
    receiver.faults([]);
    track(names(5));
    await shop.leave();
    const isHandedOff = REPEATABLE.includes(way);
    expect(service.names()).toHaveLength(isHandedOff ? 6 : 0);
    shop.visit();
    await shop.holds(['first', ...names(5)], 120_000);
  });

  it('while the service has asked for a wait leaves everything to the next page', async () => {
    const shop = openShop(way);
    const { receiver } = shop;
    draw(0);
    receiver.faults([{ status: 503, headers: { 'retry-after': '20' }, times: 1 }]);
    const { analytics, track } = shop.visit();
    track(['first']);
    await passUntil(() => analytics.status().paused === 'backoff');
    track(names(5));
    await shop.next();
    await shop.holds(['first', ...names(5)], 60_000);
    const [refused, ...rest] = receiver.requests;
    for (const { at } of rest) expect(at - refused!.at).toBeGreaterThanOrEqual(20_000);
  });

  it('while it is offline leaves everything to the next page', async () => {
    const shop = openShop(way);
    shop.visit({ flushInterval: 60_000 });
    await pass(1_000);
    shop.offline();
    const { track } = shop.visit({ flushInterval: 60_000 });
    track(names(5));
    await shop.leave();
    shop.online();
    const { analytics } = shop.visit();
    await shop.holds(names(5));
    expect(analytics.status()).toMatchObject({ unknown: 0 });
  });

  it('hands off though the browser says for ever that it is offline, once something has passed', async () => {
    const shop = openShop(way);
    Object.assign(navigator, { onLine: false });
    const { track } = shop.visit();
    track(['first']);
    await shop.holds(['first']);
    track(['last']);
    await shop.leave();
    expect(shop.service.names()).toEqual(['first', 'last']);
    for (const { init } of shop.receiver.of('last')) expect(init.keepalive).toBe(true);
  });
});

it('leaves a record that waits after a failure of its own to the next page, though the service is well', async () => {
  const shop = openShop();
  const { service } = shop;
  draw(1);
  service.faults([{ event: 'bad', status: 403 }]);
  const { track, heard } = shop.visit();
  track(['bad', 'good']);
  await passUntil(() => heard.outcome.filter(({ outcome }) => outcome === 'blocked').length === 4);
  expect(service.names()).toEqual(['good']);
  await shop.leave();
  expect(service.of('bad')).toHaveLength(4);
  service.faults([]);
  const { analytics } = shop.visit();
  await shop.holds(['good', 'bad'], 60_000);
  expect(service.of('bad')).toHaveLength(5);
  expect(analytics.status()).toMatchObject({ unknown: 0 });
});

it.each(WAYS)('keeps the order of identifies that are made offline, %s', async (way) => {
  const { service, visit, offline, online, holds } = openShop(way);
  const { analytics } = visit();
  offline();
  const plans = ['free', 'pro', 'team'];
  for (const plan of plans) {
    analytics.identify('user_1', { plan });
    analytics.event(`on ${plan}`);
  }
  await pass(5_000);
  online();
  await holds([...plans.map((plan) => `on ${plan}`), ...plans.map(() => 'identify user_1')]);
  const identifies = service.stored().filter((body) => 'properties' in body);
  expect(identifies.map((body) => body['properties'])).toEqual(plans.map((plan) => ({ plan })));
});
