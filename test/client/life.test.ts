import { describe, expect, it, vi } from 'vitest';
import { pass, settle } from '../support/clock.js';
import type { Fault } from '../support/service.js';
import { names, openShop, WAYS, type Way } from '../support/shop.js';
import { NAME, watchListeners } from '../support/site.js';

/** After so long a page that is still there has not been left. */
const STAYS_MS = 5_500;
const HANGS = [{ hang: true }];
/** How a page hears that a navigation begins. Safari on iOS has no `beforeunload`. */
type Sign = 'beforeunload' | 'submit';
const SIGNS: Sign[] = ['beforeunload', 'submit'];

interface Options {
  isLoading?: boolean;
  /** What its browser does not have. */
  lacks?: string[];
}

/** Two turns, in which a page of its own accord may do something. */
const turn = async () => {
  await undefined;
  await undefined;
};

/** A page of the shop that has not loaded yet, or has, with a database or without. */
const open = async (
  way: Way,
  { isLoading = true, lacks = [] as string[], ...options }: Options & Record<string, unknown> = {},
) => {
  const shop = openShop(way);
  const { site, receiver } = shop;
  Object.assign(site.doc, { readyState: isLoading ? 'interactive' : 'complete' });
  for (const name of lacks) vi.stubGlobal(name, undefined);
  const { analytics, track, heard } = shop.visit(options);
  await pass(lacks.length ? 2_000 : 100); // it has noticed
  return {
    ...shop,
    analytics,
    heard,
    track: (...events: string[]) => track(events),
    /** The events of all requests, in their order. */
    sent: () => receiver.requests.flatMap(({ names }) => names),
    navigate: (sign: Sign = 'beforeunload') => site.say(site.win, sign),
    load: () => {
      Object.assign(site.doc, { readyState: 'complete' });
      site.say(site.win, 'load');
    },
    /** When the leases end that are stored. */
    leases: async () =>
      (await site.contents(NAME)).flatMap(({ until }) => (until ? [until as number] : [])),
  };
};
const openLoaded = (way: Way, options: object = {}) => open(way, { isLoading: false, ...options });

const NO_DATABASE = { lacks: ['indexedDB'] };

describe('a page that is left before it has loaded, and hears of `beforeunload` alone', () => {
  it.each(WAYS)(
    'hands off what was called in that task, and what it calls after it, %s',
    async (way) => {
      const { track, navigate, sent } = await open(way);
      track('a', 'b');
      navigate();
      expect(sent()).toEqual(['a', 'b']);
      for (const event of ['c', 'd']) {
        track(event);
        await turn();
      }
      expect(sent()).toEqual(['a', 'b', 'c', 'd']);
    },
  );

  it.each(WAYS)('leaves the rest to the next page at once, %s', async (way) => {
    const { analytics, receiver, service, navigate, site, visit } = await open(way);
    Object.assign(navigator, { onLine: false });
    receiver.faults(HANGS);
    for (const event of names(130)) analytics.event(event, { text: 'x'.repeat(900) });
    navigate();
    Object.assign(navigator, { onLine: true });
    receiver.faults([]);
    Object.assign(site.doc, { readyState: 'complete' });
    const next = visit().analytics;
    await pass(5_000);
    expect(next.status()).toMatchObject({ waiting: 0, inFlight: 0 });
    expect(next.status().delivered + next.status().unknown).toBe(130);
    expect(new Set(service.names()).size).toBe(service.names().length);
  });

  it.each([
    [true, 20_000],
    [false, 60_000],
  ])('holds what waits for less time than a loaded one: %s, %i ms', async (isLoading, ms) => {
    const { track, leases, receiver } = await open('direct', { isLoading });
    receiver.faults(HANGS);
    track('a');
    await pass(100);
    const [end] = await leases();
    expect(end! - Date.now()).toBeGreaterThan(ms - 200);
    expect(end! - Date.now()).toBeLessThanOrEqual(ms);
  });

  it('holds it as long as it lives', async () => {
    const { track, leases, receiver, analytics } = await open('direct');
    receiver.faults(HANGS);
    track('a');
    await pass(2_000);
    for (let i = 0; i < 9; i++) {
      await pass(3_000);
      const [end, ...others] = await leases();
      expect(others).toEqual([]);
      expect(end! - Date.now()).toBeGreaterThan(10_000);
    }
    expect(analytics.status()).toMatchObject({ inFlight: 1, unknown: 0 });
  });
});

describe('a page that stays after a `beforeunload`', () => {
  it.each(WAYS)('goes on before it has loaded: nothing twice, nothing lost, %s', async (way) => {
    const { track, navigate, load, analytics, service, sent } = await open(way);
    track('a');
    navigate();
    await pass(1_000);
    track('b');
    await pass(STAYS_MS);
    track('c');
    await pass(2_500);
    load();
    track('d');
    await pass(2_500);
    const all = ['a', 'b', 'c', 'd'];
    expect(service.names()).toEqual(all);
    if (way === 'direct') expect(sent()).toEqual(all);
    expect(analytics.status()).toMatchObject({ waiting: 0, inFlight: 0, dropped: {} });
  });

  it('is back with its `load` event, which may come sooner', async () => {
    const { track, navigate, load, receiver, analytics } = await open('by relay');
    navigate();
    load();
    track('a');
    await pass(60);
    expect(receiver.requests).toEqual([]); // a page that goes away would have sent it
    await pass(2_000);
    expect(analytics.status()).toMatchObject({ delivered: 1, storage: 'indexeddb' });
  });

  it.each([1, 2])('stays stopped if it was stopped after %i of them', async (times) => {
    const { navigate, analytics, site } = await open('direct');
    for (let i = 0; i < times; i++) navigate();
    analytics.stop();
    await pass(100);
    const opened = vi.spyOn(indexedDB, 'open');
    await pass(STAYS_MS);
    expect(opened).not.toHaveBeenCalled();
    expect(site.values.get('analytics-outbox shop consent')).toBe('granted');
  });

  it.each(WAYS)('goes on where its own `load` handler has begun a download, %s', async (way) => {
    const { site, track, load, navigate, receiver, analytics, holds } = await open(way);
    receiver.faults([{ delay: 3_000, reset: true }]);
    track(...names(6));
    await pass(1_000);
    Object.assign(site.doc, { readyState: 'complete' });
    navigate();
    load();
    await pass(5_000);
    receiver.faults([]);
    track('later');
    await holds([...names(6), 'later'], 60_000);
    expect(analytics.status()).toMatchObject({ waiting: 0, inFlight: 0, unknown: 0 });
  });

  it.each<[Way, what: string, Fault]>([
    ...WAYS.map((way): [Way, string, Fault] => [way, 'requests', { reset: true }]),
    ['by relay', 'requests that hang', { hang: true }],
  ])(
    'sends again what has failed meanwhile, though it has no database: %s, %s',
    async (way, _, fault) => {
      const shop = await open(way, NO_DATABASE);
      const { track, navigate, load, receiver, analytics, service } = shop;
      track('first');
      await pass(2_000);
      receiver.faults([fault]);
      track('a');
      await pass(700);
      navigate();
      await pass(100);
      track('b');
      await pass(4_000);
      receiver.faults([]);
      await pass(STAYS_MS);
      load();
      track('c');
      await pass(40_000);
      expect(service.names()).toContain('c');
      expect(analytics.status()).toMatchObject({ waiting: 0, inFlight: 0 });
    },
  );

  it('does not ask a failing token function again and again meanwhile', async () => {
    const token = vi.fn(() => Promise.reject(new Error('503')));
    const lacks = ['indexedDB', 'localStorage'];
    const { track, navigate } = await open('direct', { token, lacks });
    navigate();
    track('a');
    await pass(4_000);
    expect(token.mock.calls.length).toBeLessThan(5);
  });

  it.each([1_000, STAYS_MS])('has all of its trackers go on: load after %i ms', async (ms) => {
    const { analytics, receiver, navigate, load, visit } = await open('by relay');
    const both = [analytics, visit({ project: 'shop', relay: '/a/b' }).analytics];
    receiver.faults(HANGS);
    for (const one of both) one.event('a');
    navigate();
    receiver.faults([]);
    await pass(ms);
    load();
    await pass(3_000);
    for (const one of both) expect(one.status()).toMatchObject({ delivered: 1 });
  });

  it('has no listener that costs its place in the cache once it has loaded, or when it is left while requests are under way', async () => {
    const { site, visit, receiver } = openShop();
    const standing = watchListeners(site.win);
    const listens = () => standing().includes('beforeunload');
    Object.assign(site.doc, { readyState: 'interactive' });
    const { track } = visit();
    expect(listens()).toBe(true);
    Object.assign(site.doc, { readyState: 'complete' });
    site.say(site.win, 'load');
    expect(listens()).toBe(false);
    track(['a']);
    await pass(2_000);
    expect(receiver.of('a')).toHaveLength(1);
    expect(listens()).toBe(false);
    receiver.faults(HANGS);
    track(['b']);
    await pass(2_000);
    expect(listens()).toBe(true);
    site.say(site.win, 'pagehide');
    site.hide();
    expect(listens()).toBe(false);
  });

  it('sends where a script has broken `addEventListener`', async () => {
    const { track, site, analytics } = await openLoaded('direct');
    vi.spyOn(site.win, 'addEventListener').mockImplementation(() => {
      throw new Error('broken');
    });
    track('a');
    await pass(3_000);
    expect(analytics.status()).toMatchObject({ delivered: 1, inFlight: 0 });
  });

  it.each<[Way, timeout: number, sent: string[], status: object, sign: Sign]>(
    SIGNS.flatMap((sign) => [
      ['direct', 2_000, ['a', 'b', 'c'], { delivered: 1, unknown: 2 }, sign],
      ['direct', 30_000, ['a', 'b', 'c'], { delivered: 1, unknown: 2 }, sign],
      ['by relay', 30_000, ['a', 'a', 'b', 'b', 'c'], { delivered: 3, unknown: 0 }, sign],
    ]),
  )(
    'gives up requests that never settle: %s, with a timeout of %i ms ',
    async (way, timeout, all, status, sign) => {
      const { track, navigate, receiver, analytics, sent } = await openLoaded(way, { timeout });
      receiver.faults(HANGS);
      track('a', 'b');
      await pass(2_000);
      navigate(sign);
      receiver.faults([]);
      track('c');
      // By relay they go again soon, and others after them.
      await pass(way === 'direct' ? 40_000 : STAYS_MS + 500);
      expect(sent().sort()).toEqual(all);
      expect(analytics.status()).toMatchObject({ ...status, waiting: 0, inFlight: 0 });
    },
  );

  it.each(
    SIGNS.flatMap((sign) =>
      WAYS.flatMap((way) => [true, false].map((isLeft) => [sign, way, isLeft] as const)),
    ),
  )(
    'sends again what is broken off as it begins, which is no trouble of the service: %s, %s, left: %s',
    async (sign, way, isLeft) => {
      const { track, navigate, analytics, heard, sent, site } = await openLoaded(way);
      const broken = new Error('Load failed');
      let breakOff!: (error: Error) => void;
      const { fetch } = globalThis;
      vi.spyOn(globalThis, 'fetch').mockReturnValueOnce(
        new Promise((_, fail) => (breakOff = fail)),
      );
      track('a');
      await pass(1_500);
      vi.mocked(globalThis.fetch).mockImplementation(fetch);
      navigate(sign);
      breakOff(broken);
      await pass(100);
      expect(sent()).toEqual([]); // or it would be broken off again
      expect(analytics.status()).toMatchObject({ waiting: 1, paused: undefined });
      if (isLeft) {
        track('b');
        site.say(site.win, 'pagehide');
        site.hide();
        expect(sent()).toContain('b');
        return;
      }
      await pass(STAYS_MS);
      expect(sent()).toEqual(['a']);
      expect(analytics.status()).toMatchObject({ delivered: 1, waiting: 0, unknown: 0 });
      expect(heard.error).toEqual([]);
    },
  );

  it.each(SIGNS)('does not send without end while the network is away: %s', async (sign) => {
    const { track, navigate, receiver } = await openLoaded('direct');
    receiver.faults([{ delay: 100, reset: true }]);
    track('a');
    await pass(1_050);
    navigate(sign);
    await pass(2_000);
    expect(receiver.requests.length).toBeLessThan(5);
  });

  it.each([
    ['answers', 4_000, {}],
    ['answers', 8_000, {}],
    ['a 503', 8_000, { status: 503 }],
    ['a failure of the network', 8_000, { reset: true }],
  ])('waits for %s after %i ms', async (_, delay, fault) => {
    const { track, navigate, service, analytics } = await openLoaded('direct');
    service.faults([{ delay, ...fault }]);
    track('a');
    await pass(1_500);
    navigate();
    await pass(8_000);
    service.faults([]);
    await pass(30_000);
    expect(analytics.status()).toMatchObject({ delivered: 1, unknown: 0, waiting: 0 });
  });

  it.each([200, 503])('sees answers that a dialog has held up: %i', async (status) => {
    let answer!: (response: Response) => void;
    const { track, navigate, service, analytics } = await openLoaded('direct');
    vi.spyOn(globalThis, 'fetch')
      .mockImplementation(service.fetch)
      .mockReturnValueOnce(new Promise((done) => (answer = done)));
    track('a');
    await pass(1_500);
    const began = Date.now();
    navigate();
    // The page stands still. Its timers are due as it goes on, and run before the answer.
    while (Date.now() < began + STAYS_MS && vi.getTimerCount()) vi.advanceTimersToNextTimer();
    answer(new Response('{"success":true}', { status }));
    await pass(20_000);
    expect(analytics.status()).toMatchObject({ delivered: 1, unknown: 0 });
  });
});

describe('a page that a link or a form may leave before it has loaded', () => {
  it.each(WAYS)(
    'hands off what was called in that task, and leaves the rest to the next page, %s',
    async (way) => {
      const { track, navigate, sent, site, visit, holds } = await open(way);
      track('a', 'b');
      navigate('submit');
      expect(sent()).toEqual(['a', 'b']);
      Object.assign(site.doc, { readyState: 'complete' });
      visit(); // the first one says nothing more
      await holds(['a', 'b'], 30_000);
    },
  );

  it.each(WAYS)('goes on at once where it stays: nothing twice, nothing lost, %s', async (way) => {
    const { track, navigate, receiver, analytics, service, load } = await open(way);
    receiver.faults([{ status: 503 }]);
    track('a');
    navigate('submit');
    await pass(100);
    receiver.faults([]);
    track('b');
    await pass(STAYS_MS);
    load();
    track('c');
    await pass(3_000);
    expect(service.names().sort()).toEqual(['a', 'b', 'c']);
    expect(analytics.status()).toMatchObject({ delivered: 3, unknown: 0, waiting: 0 });
  });

  it.each<[Way, sent: string[], status: object]>([
    ['direct', ['a', 'b'], { delivered: 1, unknown: 1 }],
    ['by relay', ['a', 'a', 'b'], { delivered: 2, unknown: 0 }],
  ])('gives up what it has handed off if that never settles, %s', async (way, all, status) => {
    const { track, navigate, receiver, analytics, sent } = await open(way);
    receiver.faults(HANGS);
    track('a');
    navigate('submit');
    receiver.faults([]);
    track('b');
    await pass(way === 'direct' ? 40_000 : STAYS_MS + 500);
    expect(sent().sort()).toEqual(all);
    expect(analytics.status()).toMatchObject({ ...status, waiting: 0, inFlight: 0 });
  });
});

describe('a page that has not loaded', () => {
  it.each(WAYS)('sends each call at once, %s', async (way) => {
    const { track, sent } = await open(way, { flushInterval: 60_000 });
    for (const [i, event] of names(10).entries()) {
      track(event);
      await pass(60);
      expect(sent()).toHaveLength(i + 1);
    }
  });

  // Its NetworkLoadScheduler holds them back until the `load` event.
  it.each(WAYS)(
    'sends nothing that WebKit holds back: no beacon, no low priority, %s',
    async (way) => {
      const { track, navigate, receiver } = await open(way);
      const sendBeacon = vi.fn(() => true);
      Object.assign(navigator, { sendBeacon });
      track('a');
      await pass(60);
      track('b');
      navigate();
      const all = receiver.requests.map(({ names, init }) => [names, init.priority]);
      expect(all).toEqual([
        [['a'], undefined],
        [['b'], undefined],
      ]);
      expect(sendBeacon).not.toHaveBeenCalled();
    },
  );

  it('does not hurry once it has', async () => {
    const { track, sent } = await openLoaded('direct');
    track('first');
    await pass(600);
    expect(sent()).toEqual([]);
  });
});

it.each(WAYS)('hands off what was called in the task of `window.close()`, %s', async (way) => {
  const { track, sent } = await openLoaded(way);
  track('a');
  vi.stubGlobal('closed', true);
  await turn();
  expect(sent()).toEqual(['a']);
});

describe('a hidden page that goes on', () => {
  it.each(WAYS)('sends and notes about as rarely as a visible one, %s', async (way) => {
    const { track, sent, site, receiver, analytics } = await openLoaded(way);
    site.hide();
    const set = vi.spyOn(site.values, 'set');
    for (const event of names(200)) {
      track(event);
      await pass(20);
    }
    await pass(1_500);
    expect(sent().sort()).toEqual(names(200).sort());
    if (way === 'by relay') expect(receiver.requests.length).toBeLessThanOrEqual(7);
    const notes = set.mock.calls.filter(([key]) => key.includes(' note '));
    expect(notes.length).toBeLessThanOrEqual(7);
    expect(analytics.status()).toMatchObject({ delivered: 200, waiting: 0 });
  });

  it('sends what is called after a rest at once', async () => {
    const { track, sent, site } = await openLoaded('by relay');
    site.hide();
    for (const event of ['a', 'b']) {
      track(event);
      await turn();
      expect(sent().at(-1)).toBe(event);
      await pass(2_500);
    }
    expect(sent()).toEqual(['a', 'b']);
  });

  it('has stored what was called last when it is killed', async () => {
    const { track, sent, site } = await openLoaded('direct');
    site.hide();
    for (const event of names(10)) {
      track(event);
      await pass(20);
    }
    await settle();
    const [first, ...others] = names(10);
    expect(sent()).toEqual([first]);
    const stored = (await site.contents(NAME)).flatMap(({ records = [] }) => records);
    const waiting = stored.map(({ body }) => (JSON.parse(body) as { event: string }).event);
    expect(waiting).toEqual(expect.arrayContaining(others));
  });
});
