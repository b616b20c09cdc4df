import { IDBObjectStore, IDBTransaction } from 'fake-indexeddb';
import { describe, expect, it, vi } from 'vitest';
import { pass, passUntil } from '../support/clock.js';
import { names, openShop, WAYS } from '../support/shop.js';

type Shop = ReturnType<typeof openShop>;

const refuse = (name: string) => (): never => {
  throw new DOMException('Storage is disabled.', name);
};
/** Puts this in the place of `open` of the page's IndexedDB. */
const openBy =
  (open: (real: IDBFactory['open']) => IDBFactory['open']) =>
  ({ site }: Shop) => {
    const { databases } = site;
    databases.open = open(databases.open.bind(databases)) as typeof databases.open;
  };

/** Ways in which IndexedDB fails real pages. */
const BREAKAGES: Record<string, (shop: Shop) => unknown> = {
  'is missing': () => vi.stubGlobal('indexedDB', undefined),
  'throws when it is read': () =>
    Object.defineProperty(globalThis, 'indexedDB', {
      configurable: true,
      get: refuse('SecurityError'),
    }),
  'throws when it is opened': openBy(() => refuse('InvalidStateError')),
  'refuses to open': openBy(() => () => {
    const request = { error: new DOMException('no', 'UnknownError'), onerror: () => undefined };
    queueMicrotask(() => request.onerror());
    return request as unknown as IDBOpenDBRequest;
  }),
  'never opens': openBy(() => () => ({}) as IDBOpenDBRequest),
  'aborts what is put, as when it is full': () => {
    const { put } = IDBObjectStore.prototype;
    vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: never, ...args) {
      const request = put.apply(this, args);
      (this as IDBObjectStore).transaction.abort();
      return request;
    });
  },
  'aborts at the end, as when the disk is full': () =>
    vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (
      this: IDBTransaction,
    ) {
      this.abort();
    }),
};

/** In each way once, and each breakage once. */
const ROWS = Object.keys(BREAKAGES).flatMap((how, i) =>
  (i ? (['direct'] as const) : WAYS).map((way) => [how, way] as const),
);

describe.each(ROWS)('where IndexedDB %s, %s', (how, way) => {
  const open = () => {
    const shop = openShop(way);
    BREAKAGES[how]!(shop);
    return shop;
  };

  it('delivers from memory, and says so', async () => {
    const shop = open();
    const { analytics, track, heard } = shop.visit();
    const called = Date.now();
    track(names(10));
    await shop.holds(names(10));
    // The first send never waits for the storage.
    for (const { at } of shop.service.stored()) expect(at - called).toBeLessThan(2_500);
    await passUntil(() => analytics.status().storage === 'memory');
    expect(heard.storage).toContainEqual({
      storage: 'memory',
      message: expect.stringMatching(/./) as string,
    });
    track(names(10, 'later'));
    await shop.holds([...names(10), ...names(10, 'later')]);
    await shop.next();
    await pass(120_000);
    await shop.holds([...names(10), ...names(10, 'later')]);
    for (const event of names(10)) expect(shop.receiver.of(event)).toHaveLength(1);
  });

  it('leaves to the next page what it could not deliver', async () => {
    const shop = open();
    shop.receiver.faults([{ status: 503, headers: { 'retry-after': '60' } }]);
    const { analytics, track } = shop.visit();
    track(names(10));
    await passUntil(() => analytics.status().storage === 'memory');
    await passUntil(() => shop.receiver.requests.length && !analytics.status().inFlight);
    expect(analytics.status()).toMatchObject({ waiting: 10, paused: 'backoff' });
    shop.receiver.faults([]);
    await shop.leave();
    await pass(120_000);
    shop.visit();
    await shop.holds(names(10));
  });

  it('hands off what was called in the task that leaves', async () => {
    const shop = open();
    shop.visit().track(names(10));
    await shop.leave();
    expect(shop.service.names().toSorted()).toEqual(names(10).sort());
    await shop.next();
    await pass(120_000);
    await shop.holds(names(10));
    // What may safely be sent again is: the page has not seen the answers.
    if (way === 'direct') expect(shop.service.requests).toHaveLength(10);
  });
});
