import { IDBObjectStore } from 'fake-indexeddb';
import { describe, expect, it, vi } from 'vitest';
import type { Note } from '../../src/client/outbox/note.js';
import type { Analytics } from '../../src/client/types.js';
import { pass, passUntil, settle } from '../support/clock.js';
import { draw, names, openShop, WAYS, type Way } from '../support/shop.js';

const REPEATABLE: Way[] = ['with keys', 'by relay'];

/** The browser's `fetchLater`, which takes 64 KiB for one origin. */
const addFetchLater = () => {
  let room = 64 * 1024;
  const fetchLater = vi.fn((url: string, init: RequestInit) => {
    room -= (init.body as string).length;
    if (room < 0) throw new DOMException('exceeds its quota', 'QuotaExceededError');
    void fetch(url, init);
    return { activated: false };
  });
  vi.stubGlobal('fetchLater', fetchLater);
  return fetchLater;
};

/** The parcels in the exit notes of the site. */
const notedIn = ({ site }: ReturnType<typeof openShop>): Note['list'] =>
  [...site.values]
    .filter(([key]) => key.includes(' note '))
    .flatMap(([, text]) => (JSON.parse(text) as Note).list);

/** Events of 20 KB, of which two fit into the budget of keepalive. */
const trackLarge = (analytics: Analytics, events: readonly string[]): void => {
  for (const event of events) analytics.event(event, { description: 'x'.repeat(20_000) });
};

// What is under way, and waits that the service has asked for, are held by worlds.
describe.each(WAYS)('a page that is left, %s', (way) => {
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

  it('stores what it hears at once, for the system may end a hidden page before its timers run', async () => {
    const shop = openShop(way);
    const { analytics, track } = shop.visit({ flushInterval: 60_000 });
    track(names(5));
    await pass(1_000);
    shop.site.hide();
    await settle();
    expect(analytics.status()).toMatchObject({ delivered: 5 });
    const kept = [...(await shop.site.traces()), ...shop.site.values.values()];
    expect(kept.filter((text) => text.includes('event'))).toEqual([]);
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

  it('also gives the browser’s `fetchLater` what may be sent again, and leaves the rest to the next page', async () => {
    const shop = openShop(way);
    addFetchLater();
    trackLarge(shop.visit({ flushInterval: 60_000 }).analytics, names(10));
    await shop.leave();
    // A batch has two of them, and so the third batch has no room.
    const most = { direct: 2, 'with keys': 5, 'by relay': 4 }[way];
    expect(shop.service.names()).toEqual(names(most));
    shop.visit();
    await shop.holds(names(10));
  });

  it('hands off no event of a user whose identify has no room', async () => {
    const shop = openShop(way);
    const { analytics, track } = shop.visit({ flushInterval: 60_000 });
    trackLarge(analytics, names(2));
    analytics.identify('user_1', { text: 'x'.repeat(20_000) });
    track(['after']);
    await shop.leave();
    expect(shop.service.names()).toEqual(names(2));
    shop.visit();
    await shop.holds([...names(2), 'identify user_1', 'after']);
  });

  it('gives it nothing if it is only hidden, and sends all by itself', async () => {
    const shop = openShop(way);
    const fetchLater = addFetchLater();
    trackLarge(shop.visit({ flushInterval: 60_000 }).analytics, names(10));
    shop.site.hide();
    await shop.holds(names(10));
    expect(fetchLater).not.toHaveBeenCalled();
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

describe('a page that is hidden and may end without a word', () => {
  it('starts no request for what its note says is waiting', async () => {
    const shop = openShop();
    const { site, receiver } = shop;
    draw(1);
    receiver.faults([{ status: 503 }]);
    const { analytics, track } = shop.visit();
    track(['first']);
    await passUntil(() => analytics.status().paused === 'backoff');
    receiver.faults([]);
    const { put } = IDBObjectStore.prototype;
    vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (
      this: IDBObjectStore,
      value,
      key,
    ) {
      const isNaming = (value as { flight?: string[] }).flight?.length;
      if (isNaming && document.visibilityState !== 'hidden') site.hide();
      return put.call(this, value, key);
    });
    const { fetch } = globalThis;
    const waiting: number[] = [];
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
      const count = notedIn(shop).map(({ records, flight }) => records.length - flight.length);
      waiting.push(...count);
      return fetch(url, init);
    });
    await shop.holds(['first']);
    expect(waiting.filter((count) => count > 0)).toEqual([]);
  });

  it('has in its note what a claim has dropped meanwhile', async () => {
    const shop = openShop();
    shop.offline();
    const { track } = shop.visit({ flushInterval: 60_000 });
    for (const event of names(12)) {
      track([event]);
      await pass(1);
    }
    await shop.leave();
    shop.site.hide();
    const { analytics, heard } = shop.visit({ maxRecords: 5 });
    const noted: number[] = [];
    analytics.on('drop', () =>
      queueMicrotask(() => noted.push(notedIn(shop).filter((one) => !one.records.length).length)),
    );
    await passUntil(() => heard.drop.length === 7);
    await settle();
    expect(noted).toEqual(Array(7).fill(7));
  });
});

it.each(REPEATABLE)('sends by the option `fetch` alone as it is left, %s', async (way) => {
  const shop = openShop(way);
  const fetchLater = addFetchLater();
  const sendBeacon = vi.fn(() => true);
  Object.assign(navigator, { sendBeacon });
  const own = vi.fn((url: string, init: RequestInit) => fetch(url, init));
  trackLarge(shop.visit({ flushInterval: 60_000, fetch: own }).analytics, names(10));
  await shop.leave();
  expect(shop.service.names()).toEqual(names(2));
  expect(own).toHaveBeenCalledTimes(shop.receiver.requests.length);
  expect(fetchLater).not.toHaveBeenCalled();
  expect(sendBeacon).not.toHaveBeenCalled();
  shop.visit({ fetch: own });
  await shop.holds(names(10));
});
