import { IDBObjectStore } from 'fake-indexeddb';
import { describe, expect, it, vi } from 'vitest';
import { pass, passUntil } from '../../support/clock.js';
import { names, openShop, WAYS } from '../../support/shop.js';
import { NAME } from '../../support/site.js';

describe('a hidden page', () => {
  it.each(WAYS)('does not send again at each call while the service fails, %s', async (way) => {
    const { receiver, site, visit } = openShop(way);
    receiver.faults([{ status: 503 }]);
    const { analytics, track } = visit({ flushInterval: 1 });
    track(['first']);
    await passUntil(() => analytics.status().paused === 'backoff');
    site.hide();
    await pass(20);
    const before = receiver.requests.length;
    for (const event of names(30)) {
      track([event]);
      await pass(2);
    }
    expect(receiver.requests).toHaveLength(before);
  });

  it('sends nothing after a listener of `sent` has denied consent', async () => {
    const { service, site, visit } = openShop();
    const { analytics, track } = visit();
    analytics.on('sent', () => analytics.setConsent('denied'));
    track(names(5));
    await pass(20);
    site.hide();
    await pass(20);
    expect(service.requests).toHaveLength(1);
  });
});

it('has nothing in its database when all visits have delivered all', async () => {
  const { site, visit, leave } = openShop();
  for (let i = 0; i < 5; i++) {
    const { analytics, track } = visit();
    track(['Viewed']);
    await passUntil(() => analytics.status().delivered === 1);
    await pass(100); // its end is written
    await leave();
    await pass(600_000);
  }
  expect(await site.contents(NAME)).toEqual([]);
});

describe('a token function', () => {
  it('is asked at the first call, so that a page that is left soon hands off all', async () => {
    const { service, site, visit } = openShop();
    const { track } = visit({ token: async () => 't', flushInterval: 60_000 });
    await pass(50); // what a start looks for is over
    track(['one', 'two', 'three']);
    await pass(0);
    site.hide();
    expect(service.requests.flatMap((request) => request.names)).toEqual(['one', 'two', 'three']);
  });

  it('that a page was asking as it was left makes nobody wait', async () => {
    const shop = openShop();
    let refuse: (error: Error) => void = () => undefined;
    const token = () => new Promise<string>((_, reject) => (refuse = reject));
    const { heard, track } = shop.visit({ token });
    track(['left']);
    await pass(100);
    refuse(new Error('the page is left')); // in Chromium, before any event says so
    shop.site.say(shop.site.win, 'pagehide');
    await pass(100);
    expect(heard.error).toEqual([]);
    const { analytics } = await shop.next();
    expect(analytics.status().paused).toBeUndefined();
    await shop.holds(['left']);
  });
});

it('names a record in the database before it sends it, since a killed page tells nobody', async () => {
  const { service, visit } = openShop();
  const steps: string[] = [];
  const put = IDBObjectStore.prototype.put;
  vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (
    this: IDBObjectStore,
    value: { flight?: unknown[] },
    key,
  ) {
    if (value.flight?.length) {
      this.transaction.addEventListener('complete', () => steps.push('named'));
    }
    return put.call(this, value, key);
  });
  const fetch = (url: string, init: RequestInit) => {
    steps.push('sent');
    return service.fetch(url, init);
  };
  const { track } = visit({ fetch });
  await pass(100);
  track(['Viewed']);
  await passUntil(() => service.requests.length > 0);
  expect(steps).toEqual(['named', 'sent']);
});

it('sends nothing more once the service has asked for a wait, even if storage was slow to name it', async () => {
  const { service, visit } = openShop();
  service.faults([{ status: 429, headers: { 'retry-after': '100' }, delay: 30, times: 1 }]);
  const { analytics, track } = visit();
  await pass(100); // what a start looks for is over
  track(['first']);
  await passUntil(() => service.requests.length === 1);
  const put = IDBObjectStore.prototype.put;
  vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (
    this: IDBObjectStore,
    ...args
  ) {
    const { transaction } = this;
    transaction.addEventListener('complete', (event) => {
      event.stopImmediatePropagation();
      setTimeout(() => transaction.oncomplete?.(event), 50);
    });
    return put.apply(this, args);
  });
  track(['second']);
  void analytics.flush();
  await passUntil(() => analytics.status().paused === 'backoff');
  await pass(1_000);
  expect(service.requests).toHaveLength(1);
});
