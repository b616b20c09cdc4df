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

it('keeps a call before what a listener makes of it: an identify before the event of its user', async () => {
  openSite();
  const sent: string[] = [];
  const fetch = async (_: unknown, request: RequestInit = {}) => {
    const { records } = JSON.parse(request.body as string) as { records: { type: string }[] };
    sent.push(...records.map(({ type }) => type));
    return answerEach(request, { outcome: 'delivered', status: 200 });
  };
  const { analytics } = track({ ...RELAY, fetch });
  analytics.on('record', () => analytics.event('Identified'));
  analytics.identify('user_1');
  await analytics.flush();
  analytics.stop();
  expect(sent).toEqual(['identify', 'event']);
});

it('leaves a call to the next page although a listener stops all at it', async () => {
  const site = openSite();
  const sent: unknown[] = [];
  const fetch = async (_: unknown, { body }: RequestInit = {}) => (sent.push(body), taken());
  const first = track({ ...DIRECT, fetch });
  await first.analytics.flush();
  first.analytics.on('record', () => first.analytics.stop());
  first.analytics.event('Viewed');
  site.next();
  const second = track({ ...DIRECT, fetch });
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  second.analytics.stop();
});
