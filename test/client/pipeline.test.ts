import { afterEach, expect, it, vi } from 'vitest';
import { answerEach, taken } from '../support/answers.js';
import { DIRECT, openSite, RELAY, track } from '../support/site.js';

afterEach(() => vi.unstubAllGlobals());

it.each([true, false])('flushes what a user does, with a database: %s', async (hasDatabase) => {
  openSite();
  if (!hasDatabase) vi.stubGlobal('indexedDB', undefined);
  const { analytics } = track({ ...DIRECT, fetch: taken });
  analytics.identify('user_1');
  analytics.event('Viewed');
  const flushed = await analytics.flush();
  analytics.stop();
  expect(flushed).toEqual({ delivered: 2, retried: 0, rejected: 0, waiting: 0 });
});

it.each([
  ['direct', DIRECT],
  ['by relay', RELAY],
])(
  'sends each event once where `Promise` is as in ES2015 (zone.js 0.8), %s',
  async (_, destination) => {
    class OldPromise<T> extends Promise<T> {}
    for (const name of ['finally', 'allSettled', 'any', 'withResolvers', 'try']) {
      const place = name === 'finally' ? OldPromise.prototype : OldPromise;
      Reflect.defineProperty(place, name, { value: undefined });
    }
    openSite();
    vi.stubGlobal('Promise', OldPromise);
    let requests = 0;
    const fetch = async (_: unknown, request: RequestInit = {}) => (
      requests++,
      destination === DIRECT ? taken() : answerEach(request, { outcome: 'delivered', status: 200 })
    );
    const { analytics } = track({ ...destination, flushInterval: 1, fetch });
    analytics.event('Viewed');
    const all = { delivered: 1, waiting: 0, inFlight: 0, storage: 'indexeddb' };
    await vi.waitFor(() => expect(analytics.status()).toMatchObject(all));
    expect(requests).toBe(1);
    analytics.stop();
  },
);
