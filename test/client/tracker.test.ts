import { afterEach, describe, expect, it, vi } from 'vitest';
import { DIRECT, NAME, openSite, RELAY, sleep, track } from '../support/site.js';
import type { BatchAnswer, BatchResult } from '../../src/interface/wire.js';

afterEach(() => vi.unstubAllGlobals());

const taken = async () => new Response('{"success":true}');

const idsOf = ({ body }: RequestInit): string[] =>
  (JSON.parse(body as string) as { records: { id: string }[] }).records.map(({ id }) => id);

/** Answers a batch with this for each of its records. */
const answerEach = (request: RequestInit, result: Omit<BatchResult, 'id'>): Response =>
  Response.json({
    results: idsOf(request).map((id) => ({ id, ...result })),
  } satisfies BatchAnswer);

describe('a hidden page', () => {
  it.each([
    ['by relay', RELAY],
    ['with keys', { ...DIRECT, idempotencyKey: true }],
    ['direct', DIRECT],
  ])('does not send again at each call while the service fails, %s', async (_, destination) => {
    const site = openSite();
    let requests = 0;
    const fetch = async () => (requests++, new Response('', { status: 503 }));
    const now = () => 1_000_000_000_000; // its pause does not end
    const { analytics } = track({ ...destination, flushInterval: 1, now, fetch });
    analytics.event('Tick');
    await vi.waitFor(() => expect(analytics.status().paused).toBe('backoff'));
    site.hide();
    await sleep(20);
    const before = requests;
    for (let i = 0; i < 30; i++) {
      analytics.event('Tick');
      await sleep(1);
    }
    analytics.stop();
    expect(requests - before).toBe(0);
  });

  it('sends nothing after a listener of `sent` has denied consent', async () => {
    const site = openSite();
    let requests = 0;
    const { analytics } = track({ ...DIRECT, fetch: () => (requests++, taken()) });
    analytics.on('sent', () => analytics.setConsent('denied'));
    for (let i = 0; i < 5; i++) analytics.event('Viewed');
    await sleep(20);
    site.hide();
    await sleep(20);
    analytics.stop();
    expect(requests).toBe(1);
  });
});

describe('a batch', () => {
  it('is not sent again when the relay refuses each record of it', async () => {
    openSite();
    const sent: string[][] = [];
    const fetch = async (_: unknown, request: RequestInit) => {
      sent.push(idsOf(request));
      return answerEach(request, { outcome: 'rejected', status: 400, field: 'notify' });
    };
    const { analytics } = track({ ...RELAY, flushInterval: 1, fetch: fetch as never });
    for (let i = 0; i < 20; i++) analytics.event('Wrong', { notify: 'yes' } as never);
    const flushed = await analytics.flush();
    analytics.stop();
    expect(flushed).toEqual({ delivered: 0, retried: 0, rejected: 20, waiting: 0 });
    expect(sent.map((ids) => ids.length)).toEqual([20]);
  });

  it.each([0, 6])('is as large after an outage in which the tab was hidden %i times', async (n) => {
    const site = openSite();
    let isDown = true;
    let time = 1_000_000_000_000;
    const sizes: number[] = [];
    const fetch = async (_: unknown, request: RequestInit) => {
      if (isDown) return new Response('', { status: 503 });
      sizes.push(idsOf(request).length);
      return answerEach(request, { outcome: 'delivered', status: 200 });
    };
    const now = () => time;
    const { analytics } = track({ ...RELAY, flushInterval: 1, now, fetch: fetch as never });
    for (let i = 0; i < 60; i++) analytics.event('Viewed');
    await analytics.flush();
    for (let i = 0; i < n; i++) {
      site.hide();
      await sleep(20);
      site.show();
      await sleep(20);
    }
    isDown = false;
    time += 30_000;
    await vi.waitFor(async () => {
      await analytics.flush();
      expect(analytics.status().delivered).toBe(60);
    }, 5_000);
    analytics.stop();
    expect(sizes.length).toBeLessThan(10);
  });
});

it('has nothing in its database when all visits have delivered all', async () => {
  const site = openSite();
  let time = 1_000_000_000_000;
  for (let i = 0; i < 5; i++) {
    const { analytics } = track({ ...DIRECT, now: () => time, flushInterval: 1, fetch: taken });
    analytics.event('Viewed');
    await vi.waitFor(() => expect(analytics.status().delivered).toBe(1));
    await sleep(120); // its end is written
    site.say(site.win, 'pagehide');
    site.hide();
    await sleep(20);
    analytics.stop();
    site.show();
    time += 600_000;
  }
  expect(await site.stored(NAME)).toEqual([]);
});

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

it('does not bring back a user whom another page has forgotten while this one was prerendered', async () => {
  const site = openSite();
  const key = `${NAME} user`;
  site.values.set(key, 'user_1');
  Object.assign(site.doc, { prerendering: true, visibilityState: 'hidden' });
  const { analytics } = track({ ...DIRECT, fetch: taken });
  analytics.event('Viewed'); // reads who the user is
  await sleep(20);
  site.values.set(key, ''); // `reset()` on the page that is shown
  Object.assign(site.doc, { prerendering: false, visibilityState: 'visible' });
  site.say(site.doc, 'prerenderingchange');
  await sleep(20);
  const { userId } = analytics.status();
  analytics.stop();
  expect({ userId, stored: site.values.get(key) }).toEqual({ userId: undefined, stored: '' });
});

describe('a token function', () => {
  it('is asked at the first call, so that a page that is left soon hands off all', async () => {
    const site = openSite();
    const sent: string[] = [];
    const fetch = async (_: unknown, { body }: RequestInit = {}) => {
      sent.push((JSON.parse(body as string) as { event: string }).event);
      return taken();
    };
    const { analytics } = track({
      ...DIRECT,
      token: async () => 't',
      flushInterval: 60_000,
      fetch,
    });
    await sleep(50); // what a start looks for is over
    for (const name of ['one', 'two', 'three']) analytics.event(name);
    await sleep(0);
    site.hide();
    analytics.stop();
    expect(sent).toEqual(['one', 'two', 'three']);
  });
});

describe('a destination that does not answer', () => {
  it('is tried twice at once the first time, and then once an attempt, with and without keepalive', async () => {
    openSite();
    const tries: unknown[] = [];
    const outcomes: string[] = [];
    let isBack = false;
    const fetch = async (_: unknown, request: RequestInit = {}) => {
      tries.push(request.keepalive);
      if (isBack) return answerEach(request, { outcome: 'delivered', status: 200 });
      throw new TypeError('blocked');
    };
    const { analytics } = track({ ...RELAY, flushInterval: 1, fetch });
    analytics.on('outcome', ({ outcome }) => outcomes.push(outcome));
    const fails = async (times: number) => {
      void analytics.flush();
      await vi.waitFor(() => expect(outcomes).toHaveLength(times), { timeout: 5_000 });
    };
    analytics.event('Viewed');
    for (let times = 1; times <= 3; times++) await fails(times);
    expect(tries).toEqual([true, false, false, true]);
    isBack = true;
    await vi.waitFor(() => expect(outcomes.at(-1)).toBe('delivered'), { timeout: 9_000 });
    analytics.stop();
  }, 20_000);
});

describe('a page of HTML', () => {
  const PAGE = '<html><h1>Request Header Or Cookie Too Large</h1></html>';
  const all = { ...RELAY, flushInterval: 1, now: () => Date.now() };

  it.each([400, 409, 413, 422])('loses no record, with status %i', async (status) => {
    for (const destination of [DIRECT, RELAY]) {
      openSite();
      let requests = 0;
      const fetch = async () => (requests++, new Response(PAGE, { status }));
      const { analytics } = track({ ...destination, flushInterval: 1, fetch });
      for (let i = 0; i < 3; i++) analytics.event('Viewed');
      await vi.waitFor(() => expect(analytics.status().paused).toBe('setup'));
      await sleep(20);
      expect(requests).toBeGreaterThan(0);
      expect(analytics.status()).toMatchObject({ waiting: 3, dropped: {} });
      analytics.stop();
    }
  });

  it('with 413 drops a record that is too large for anybody, once others have passed, and no other', async () => {
    openSite();
    let clock = Date.now();
    const drops: unknown[] = [];
    const fetch = async (_: unknown, request: RequestInit = {}) =>
      (request.body as string).includes('large')
        ? new Response(PAGE, { status: 413 })
        : answerEach(request, { outcome: 'delivered', status: 200 });
    const { analytics } = track({ ...all, now: () => clock, fetch });
    analytics.on('drop', ({ reason, record }) =>
      drops.push([reason, record?.body.includes('large')]),
    );
    for (const name of ['one', 'large', 'three', 'four']) analytics.event(name);
    const turn = async () => {
      clock += 10_000; // its pauses are over
      await Promise.race([analytics.flush(), sleep(200)]);
    };
    await vi.waitFor(
      async () => {
        await turn();
        expect(analytics.status().waiting).toBe(0);
      },
      { timeout: 8_000 },
    );
    analytics.stop();
    expect(drops).toEqual([['rejected', true]]);
    expect(analytics.status().waiting).toBe(0);
  }, 20_000);
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
    await vi.waitFor(() => expect(analytics.status()).toMatchObject({ delivered: 1, waiting: 0 }));
    expect(analytics.status()).toMatchObject({ inFlight: 0, storage: 'indexeddb' });
    expect(requests).toBe(1);
    analytics.stop();
  },
);
describe('a function of the page that calls the tracker', () => {
  const event = (analytics: ReturnType<typeof track>['analytics']) => {
    for (let i = 0; i < 3; i++) analytics.event('Inside');
  };
  /** Ways of the page to be called by the tracker, each with what sets them off. */
  const WAYS: Record<string, (work: () => void) => Parameters<typeof track>[0]> = {
    onDrop: (onDrop) => ({ onDrop, consent: 'denied' }),
    beforeSend: (work) => ({ beforeSend: (draft) => (work(), draft) }),
    context: (work) => ({ context: () => (work(), {}) }),
    onError: (onError) => ({ onError, fetch: async () => new Response('', { status: 401 }) }),
  };
  const TYPES = ['record', 'sent', 'outcome', 'drop', 'storage', 'consent', 'reset'] as const;

  /** Calls of the page's function during one call of the tracker, and what became of it. */
  const run = async (
    options: (work: () => void) => Parameters<typeof track>[0],
    type?: (typeof TYPES)[number],
  ) => {
    openSite();
    let calls = 0;
    let depth = 0;
    let deepest = 0;
    const work = () => {
      calls++;
      deepest = Math.max(deepest, ++depth);
      if (calls < 1_000) event(analytics);
      if (type === 'consent') analytics.setConsent(calls % 2 ? 'denied' : 'granted');
      depth--;
    };
    const { analytics } = track({ ...DIRECT, flushInterval: 1, fetch: taken, disabled: true });
    if (type) analytics.on(type, work);
    analytics.init({ ...DIRECT, flushInterval: 1, fetch: taken, ...options(work) } as never);
    analytics.event('Outside');
    if (type === 'reset') analytics.reset();
    if (type === 'consent') analytics.setConsent('pending');
    await vi.waitFor(() => expect(calls).toBeGreaterThan(0), 5_000);
    analytics.stop();
    return { calls: calls > 0, deepest };
  };

  it.each(Object.entries(WAYS))('is not called inside itself: %s', async (_, options) => {
    expect(await run(options)).toEqual({ calls: true, deepest: 1 });
  });

  it.each(TYPES)('is not called inside itself: a listener for %s', async (type) => {
    const options = () => (type === 'drop' ? { consent: 'denied' as const } : {});
    expect(await run(options, type)).toEqual({ calls: true, deepest: 1 });
  });
});

describe('the age of a record', () => {
  const DAY_MS = 86_400_000;
  const OLD: Record<string, [before: number, after: number]> = {
    'is set ahead': [0, 8 * DAY_MS],
    'is set back': [0, -8 * DAY_MS],
    'was behind and is put right': [-8 * DAY_MS, 0],
    'was ahead and is put right': [8 * DAY_MS, 0],
    'began in 1970 and is put right': [-Date.now(), 0],
    'falls back to 1970': [0, -Date.now()],
  };
  const open = (offset: () => number, isDown: () => boolean) =>
    track({
      ...DIRECT,
      flushInterval: 1,
      now: () => Date.now() + offset(),
      fetch: async () => (isDown() ? new Response('', { status: 503 }) : taken()),
    }).analytics;

  it.each(Object.entries(OLD))(
    'is seconds on the page that made it, though the clock %s',
    async (_, [before, after]) => {
      openSite();
      let isDown = true;
      let offset = before;
      const analytics = open(
        () => offset,
        () => isDown,
      );
      analytics.event('Viewed');
      await vi.waitFor(() => expect(analytics.status().paused).toBe('backoff'));
      offset = after;
      isDown = false;
      await vi.waitFor(async () => {
        await analytics.flush();
        expect(analytics.status()).toMatchObject({ delivered: 1, dropped: {} });
      }, 5_000);
      analytics.stop();
    },
  );

  it.each([
    ['of 8 days', 8 * DAY_MS, { expired: 1 } as { expired?: number }],
    ['of years, which only a clock that was wrong can tell', 40 * 365 * DAY_MS, {}],
  ])('counts for a stored record: %s', async (_, age, dropped) => {
    const site = openSite();
    let isDown = true;
    const first = open(
      () => -age,
      () => isDown,
    );
    first.event('Viewed');
    await vi.waitFor(() => expect(first.status().paused).toBe('backoff'));
    site.next();
    await sleep(20);
    first.stop();
    isDown = false;
    const second = open(
      () => 0,
      () => isDown,
    );
    await vi.waitFor(async () => {
      await second.flush();
      const { delivered, dropped: found } = second.status();
      expect({ delivered, found }).toEqual({ delivered: dropped.expired ? 0 : 1, found: dropped });
    }, 5_000);
    second.stop();
  });
});
