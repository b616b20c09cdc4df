import { describe, expect, it, vi } from 'vitest';
import { pass, passUntil, settle } from '../support/clock.js';
import { names, openShop, WAYS } from '../support/shop.js';
import { watchListeners } from '../support/site.js';

it('writes what was called in the task of `stop()`, though localStorage is full', async () => {
  const shop = openShop();
  const { analytics, track } = shop.visit();
  await pass(1_000);
  shop.site.fill();
  track(['last']);
  analytics.stop();
  await shop.next();
  await shop.holds(['last']);
});

describe.each(WAYS)('`stop()`, %s', (way) => {
  it.each([true, false])(
    'ends all that listens, ticks or asks, with a database: %s',
    async (has) => {
      const { site, receiver, visit } = openShop(way);
      if (!has) vi.stubGlobal('indexedDB', undefined);
      const standing = watchListeners(site.doc, site.win);
      receiver.faults([{ hang: true }]);
      const { analytics, track } = visit();
      track(['hangs']);
      await passUntil(() => receiver.requests.length);
      expect(standing()).toEqual(expect.arrayContaining(['visibilitychange', 'pagehide']));
      expect(vi.getTimerCount()).toBeGreaterThan(0);
      analytics.stop();
      await pass(100);
      expect(receiver.requests[0]!.init.signal!.aborted).toBe(true);
      expect(standing()).toEqual([]);
      expect(vi.getTimerCount()).toBe(0);
      expect(analytics.status()).toMatchObject({ paused: 'not-started', inFlight: 0, waiting: 0 });
    },
  );

  it.each(['`init`, which starts anew', 'the next page'])(
    'leaves what waits to %s',
    async (whom) => {
      const shop = openShop(way);
      const { receiver, options } = shop;
      receiver.faults([{ status: 503 }]);
      const { analytics, track } = shop.visit();
      track(names(30));
      await passUntil(() => receiver.requests.length && !analytics.status().inFlight);
      analytics.stop();
      analytics.stop();
      receiver.faults([]);
      if (whom === 'the next page') {
        await shop.next();
        return shop.holds(names(30));
      }
      track(['between']);
      expect(analytics.status()).toMatchObject({ paused: 'not-started', waiting: 1 });
      analytics.init(options);
      await shop.holds([...names(30), 'between']);
    },
  );

  it('settles a flush whose request it ends', async () => {
    const { receiver, visit } = openShop(way);
    receiver.faults([{ hang: true }]);
    const { analytics, track } = visit();
    track(['hangs']);
    await passUntil(() => receiver.requests.length);
    const flushed = analytics.flush();
    await settle();
    analytics.stop();
    await pass(100);
    expect(await flushed).toMatchObject({ delivered: 0, rejected: 0 });
  });

  it('drops with a reason what it can leave to nobody, since the page has no storage', async () => {
    const { receiver, visit } = openShop(way);
    vi.stubGlobal('indexedDB', undefined);
    const refuse = () => {
      throw new Error('no storage');
    };
    vi.stubGlobal('localStorage', { getItem: refuse, setItem: refuse, removeItem: refuse });
    receiver.faults([{ status: 503 }]);
    const { analytics, track, heard } = visit();
    track(names(5));
    await passUntil(() => analytics.status().paused === 'backoff');
    await passUntil(() => !analytics.status().inFlight);
    analytics.stop();
    expect(heard.drop.map(({ reason, record }) => [reason, !!record])).toEqual(
      Array(5).fill(['outbox-full', true]),
    );
    expect(analytics.status()).toMatchObject({ paused: 'not-started', waiting: 0 });
  });

  it('keeps the calls by which a listener answers its drops for the next `init`', async () => {
    const { visit, holds, options } = openShop(way);
    const { indexedDB, localStorage } = globalThis;
    vi.stubGlobal('indexedDB', undefined);
    vi.stubGlobal('localStorage', undefined);
    const { analytics, track } = visit();
    let answers = 0;
    analytics.on('drop', () => analytics.event(`answer ${answers++}`));
    track(names(2));
    analytics.stop();
    expect(analytics.status()).toMatchObject({ paused: 'not-started', waiting: 2 });
    vi.stubGlobal('indexedDB', indexedDB);
    vi.stubGlobal('localStorage', localStorage);
    analytics.init(options);
    await holds(['answer 0', 'answer 1']);
  });

  it('is what `disabled` does to an earlier `init`', async () => {
    const shop = openShop(way);
    const { receiver } = shop;
    receiver.faults([{ status: 503 }]);
    const { analytics, track } = shop.visit();
    track(names(5));
    await passUntil(() => receiver.requests.length && !analytics.status().inFlight);
    analytics.init({ disabled: true });
    expect(analytics.status()).toMatchObject({ paused: 'disabled', waiting: 0 });
    const asked = receiver.requests.length;
    receiver.faults([]);
    track(['disabled']);
    await analytics.flush();
    await pass(60_000);
    expect(receiver.requests).toHaveLength(asked);
    await shop.next();
    await shop.holds(names(5));
  });
});
