import { createStore, promisifyRequest } from 'idb-keyval';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DIRECT, NAME, openSite, RELAY, track } from '../support/site.js';
import type { BatchAnswer } from '../../src/interface/wire.js';

/** After so long a page that is still there has not been left. */
const STAYS_MS = 5_500;

type Sent = { name: string; at: number }[];

/** The events in a request, direct or by relay. */
const eventsIn = (body: string): string[] => {
  const { records, event } = JSON.parse(body) as {
    records?: { body: { event: string } }[];
    event?: string;
  };
  return records ? records.map(({ body }) => body.event) : [event!];
};

const answerTo = (body: string): Response => {
  const { records } = JSON.parse(body) as { records?: { id: string }[] };
  if (!records) return Response.json({ success: true });
  const results = records.map(({ id }) => ({ id, outcome: 'delivered' as const, status: 200 }));
  return Response.json({ results } satisfies BatchAnswer);
};

/** A service or a relay that notes what it is sent, and answers once it may. */
const createReceiver = () => {
  const sent: Sent = [];
  const bodies: string[] = [];
  const receiver = {
    sent,
    requests: bodies,
    names: () => sent.map(({ name }) => name),
    /** What the next answers wait for. */
    gate: undefined as Promise<unknown> | undefined,
    fetch: (async (_: unknown, { body }: RequestInit) => {
      receiver.take(body as string);
      await receiver.gate;
      return answerTo(body as string);
    }) as typeof fetch,
    take: (body: string) => {
      bodies.push(body);
      for (const name of eventsIn(body)) sent.push({ name, at: Date.now() });
    },
  };
  return receiver;
};

interface Stored {
  until?: number;
  records?: { body: string }[];
}

/** All that a destination's database has. */
const storedIn = (name: string): Promise<Stored[]> =>
  createStore(name, 'records')('readonly', (store) => promisifyRequest(store.getAll()));

const NEVER = new Promise<never>(() => undefined);
const EACH = [
  ['direct', DIRECT],
  ['with keys', { ...DIRECT, idempotencyKey: true }],
  ['by relay', RELAY],
] as const;

let site: ReturnType<typeof openSite>;
let receiver: ReturnType<typeof createReceiver>;
const trackers: { stop: () => void }[] = [];

/** A page of the site that has not loaded yet, or has. */
const visit = (options: object, readyState = 'interactive') => {
  Object.assign(site.doc, { readyState });
  const { analytics } = track({ fetch: receiver.fetch, ...options });
  trackers.push(analytics);
  return analytics;
};
const load = () => {
  Object.assign(site.doc, { readyState: 'complete' });
  site.say(site.win, 'load');
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
/** Real time for the database, and as much for the page. */
const rest = async (ms = 100) => {
  for (let left = ms; left > 0; left -= 10) {
    await new Promise((done) => setImmediate(done));
    await pass(10);
  }
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  site = openSite();
  receiver = createReceiver();
  vi.stubGlobal('navigator', {
    onLine: true,
    sendBeacon: (_: string, body: string) => (receiver.take(body), true),
  });
});
afterEach(async () => {
  for (const tracker of trackers.splice(0)) tracker.stop();
  await rest();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('a page that is left before it has loaded, and hears of `beforeunload` alone', () => {
  it.each(EACH)('hands off what was called in that task, %s', async (_, options) => {
    const analytics = visit(options);
    await rest();
    for (const name of ['a', 'b']) analytics.event(name);
    site.say(site.win, 'beforeunload');
    expect(receiver.names()).toEqual(['a', 'b']);
  });

  it.each(EACH)('hands off what it calls after that, %s', async (_, options) => {
    const analytics = visit(options);
    await rest();
    analytics.event('a');
    site.say(site.win, 'beforeunload');
    for (const name of ['b', 'c', 'd']) {
      analytics.event(name);
      await undefined;
      await undefined;
    }
    expect(receiver.names()).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each(EACH)('leaves the rest to the next page at once, %s', async (_, options) => {
    vi.stubGlobal('navigator', { onLine: false });
    const analytics = visit({ ...options, fetch: () => NEVER });
    await rest();
    for (let i = 0; i < 130; i++) analytics.event(`${i}`, { text: 'x'.repeat(900) });
    site.say(site.win, 'beforeunload');
    vi.stubGlobal('navigator', { onLine: true });
    const [next] = [visit(options, 'complete')];
    await rest(3_000);
    await vi.waitFor(() => expect(next!.status()).toMatchObject({ waiting: 0, inFlight: 0 }));
    const { delivered, unknown } = next!.status();
    expect(delivered + unknown).toBe(130);
    expect(new Set(receiver.names()).size).toBe(receiver.names().length);
  });

  it.each([
    ['interactive', 20_000],
    ['complete', 60_000],
  ])('holds what waits for less time than a loaded one: %s, %i ms', async (state, ms) => {
    const analytics = visit({ ...DIRECT, now: () => 1_000_000_000_000 }, state);
    receiver.gate = NEVER;
    analytics.event('a');
    await rest();
    const [until] = (await storedIn(NAME)).flatMap(({ until }) => until ?? []);
    expect(until).toBe(1_000_000_000_000 + ms);
  });

  it('holds it as long as it lives', async () => {
    const analytics = visit(DIRECT);
    receiver.gate = NEVER;
    analytics.event('a');
    await rest(2_000);
    for (let i = 0; i < 9; i++) {
      await rest(3_000);
      const ends = (await storedIn(NAME)).flatMap(({ until }) => until ?? []);
      expect(ends).toHaveLength(1);
      expect(ends[0]! - Date.now()).toBeGreaterThan(10_000);
    }
    expect(analytics.status()).toMatchObject({ inFlight: 1, unknown: 0 });
  });
});

describe('a page that stays after a `beforeunload`', () => {
  it.each(EACH)(
    'goes on before it has loaded: nothing twice, nothing lost, %s',
    async (_, options) => {
      const analytics = visit(options);
      await rest();
      analytics.event('a');
      site.say(site.win, 'beforeunload');
      await rest(1_000);
      analytics.event('b');
      await rest(STAYS_MS);
      analytics.event('c');
      await rest(2_500);
      load();
      analytics.event('d');
      await rest(2_500);
      expect(new Set(receiver.names())).toEqual(new Set(['a', 'b', 'c', 'd']));
      if (!('relay' in options) && !('idempotencyKey' in options))
        expect(receiver.names()).toEqual(['a', 'b', 'c', 'd']);
      expect(analytics.status()).toMatchObject({ waiting: 0, inFlight: 0, dropped: {} });
    },
  );

  it('is back with its `load` event, which may come sooner', async () => {
    const analytics = visit(RELAY);
    await rest();
    receiver.gate = NEVER;
    site.say(site.win, 'beforeunload');
    load();
    const before = receiver.requests.length;
    analytics.event('a');
    await rest(60);
    expect(receiver.requests).toHaveLength(before); // a page that goes away would have sent it
    receiver.gate = undefined;
    await rest(2_000);
    expect(analytics.status()).toMatchObject({ delivered: 1, storage: 'indexeddb' });
  });

  it('stays stopped if it was stopped meanwhile', async () => {
    const analytics = visit(DIRECT);
    await rest();
    site.say(site.win, 'beforeunload');
    analytics.stop();
    await rest();
    const open = vi.spyOn(indexedDB, 'open');
    await rest(STAYS_MS);
    expect(open).not.toHaveBeenCalled();
  });

  it('stays stopped if it was stopped after two of them', async () => {
    const analytics = visit(DIRECT);
    await rest();
    site.say(site.win, 'beforeunload');
    site.say(site.win, 'beforeunload');
    analytics.stop();
    await rest();
    const open = vi.spyOn(indexedDB, 'open');
    await rest(STAYS_MS);
    expect(open).not.toHaveBeenCalled();
    expect(site.values.get('analytics-outbox shop consent')).toBe('granted');
  });

  it.each(EACH)('sends again after requests have failed meanwhile, %s', async (_, options) => {
    vi.stubGlobal('indexedDB', undefined);
    vi.stubGlobal('navigator', { onLine: true, sendBeacon: () => false });
    let isDown = false;
    const fetch: typeof globalThis.fetch = async (...request) => {
      if (isDown) throw new TypeError('Failed to fetch');
      return receiver.fetch(...request);
    };
    const analytics = visit({ ...options, fetch });
    await rest(2_000);
    analytics.event('first');
    await rest(2_000);
    isDown = true;
    analytics.event('a');
    site.say(site.win, 'beforeunload');
    await rest(3_000);
    isDown = false;
    await rest(STAYS_MS);
    load();
    await rest(2_000);
    analytics.event('b');
    await rest(40_000);
    expect(receiver.names()).toContain('b');
    expect(analytics.status()).toMatchObject({ waiting: 0, inFlight: 0 });
  });

  it('sends again after a beacon, though it has no database', async () => {
    vi.stubGlobal('indexedDB', undefined);
    const analytics = visit(RELAY);
    await rest(2_000);
    analytics.event('first');
    await rest(2_000);
    receiver.gate = NEVER;
    analytics.event('a');
    await rest(700);
    site.say(site.win, 'beforeunload');
    await rest();
    analytics.event('b');
    await rest(4_000);
    receiver.gate = undefined;
    await rest(3_000);
    load();
    await rest(2_000);
    analytics.event('c');
    await rest(40_000);
    expect(receiver.names()).toContain('c');
    expect(analytics.status()).toMatchObject({ waiting: 0, inFlight: 0 });
  });

  it('does not ask a failing token function again and again meanwhile', async () => {
    vi.stubGlobal('indexedDB', undefined);
    vi.stubGlobal('localStorage', undefined);
    const token = vi.fn(() => Promise.reject(new Error('503')));
    const analytics = visit({ ...DIRECT, token });
    await rest(2_000);
    site.say(site.win, 'beforeunload');
    analytics.event('a');
    await rest(4_000);
    expect(token.mock.calls.length).toBeLessThan(5);
  });

  it.each([1_000, STAYS_MS])('has all of its trackers go on: load after %i ms', async (ms) => {
    const both = [visit(RELAY), visit({ ...RELAY, relay: '/b' })];
    await rest(1_000);
    receiver.gate = NEVER;
    for (const one of both) one.event('a');
    site.say(site.win, 'beforeunload');
    receiver.gate = undefined;
    await rest(ms);
    load();
    await rest(3_000);
    for (const one of both) expect(one.status()).toMatchObject({ delivered: 1 });
  });

  describe('has no listener that costs its place in the cache', () => {
    let listens: () => number;
    beforeEach(() => {
      const all = new Set<unknown>();
      for (const method of ['addEventListener', 'removeEventListener'] as const) {
        const real = site.win[method].bind(site.win);
        vi.spyOn(site.win, method).mockImplementation(
          (type: string, listener: EventListenerOrEventListenerObject | null) => {
            if (type === 'beforeunload')
              all[method === 'addEventListener' ? 'add' : 'delete'](listener);
            real(type, listener);
          },
        );
      }
      listens = () => all.size;
    });

    it('once it has loaded', async () => {
      const analytics = visit(DIRECT);
      await rest();
      expect(listens()).toBe(1);
      load();
      expect(listens()).toBe(0);
      analytics.event('a');
      await rest(2_000);
      expect(receiver.names()).toEqual(['a']);
      expect(listens()).toBe(0);
    });

    it('when it is left while requests are under way', async () => {
      receiver.gate = NEVER;
      visit(DIRECT, 'complete').event('a');
      await rest(2_000);
      expect(listens()).toBe(1);
      site.say(site.win, 'pagehide');
      site.hide();
      expect(listens()).toBe(0);
    });
  });

  it('sends where a script has broken `addEventListener`', async () => {
    const analytics = visit(DIRECT, 'complete');
    await rest();
    vi.spyOn(site.win, 'addEventListener').mockImplementation(() => {
      throw new Error('broken');
    });
    analytics.event('a');
    await rest(3_000);
    expect(receiver.names()).toEqual(['a']);
    expect(analytics.status()).toMatchObject({ delivered: 1, inFlight: 0 });
  });

  it.each([2_000, 30_000])(
    'gives up requests that never settle: direct, they are unknown after %i ms',
    async (timeout) => {
      const analytics = visit({ ...DIRECT, timeout }, 'complete');
      receiver.gate = NEVER;
      for (const name of ['a', 'b']) analytics.event(name);
      await rest(2_000);
      site.say(site.win, 'beforeunload');
      receiver.gate = undefined;
      analytics.event('c');
      await rest(40_000);
      expect(receiver.names()).toEqual(['a', 'b', 'c']);
      expect(analytics.status()).toMatchObject({
        delivered: 1,
        unknown: 2,
        waiting: 0,
        inFlight: 0,
      });
    },
  );

  it('gives up requests that never settle: by relay, they go again soon, and others after them', async () => {
    const analytics = visit(RELAY, 'complete');
    receiver.gate = NEVER;
    analytics.event('a');
    await rest(2_000);
    site.say(site.win, 'beforeunload');
    receiver.gate = undefined;
    analytics.event('b');
    await rest(STAYS_MS + 500);
    expect(receiver.names().sort()).toEqual(['a', 'a', 'b']);
    expect(analytics.status()).toMatchObject({ delivered: 2, waiting: 0, inFlight: 0 });
  });

  it.each([4_000, 8_000])('waits for answers that come after %i ms', async (ms) => {
    const analytics = visit(DIRECT, 'complete');
    receiver.gate = new Promise((done) => setTimeout(done, ms));
    analytics.event('a');
    await rest(1_500);
    site.say(site.win, 'beforeunload');
    await rest(8_000);
    expect(analytics.status()).toMatchObject({ delivered: 1, unknown: 0, waiting: 0 });
  });

  it.each(['a 503', 'a failure of the network'])(
    'sends again after %s that comes late',
    async (what) => {
      let isDown = true;
      const fetch: typeof globalThis.fetch = async (...request) => {
        if (!isDown) return receiver.fetch(...request);
        await new Promise((done) => setTimeout(done, 8_000));
        if (what === 'a 503') return new Response('', { status: 503 });
        throw new TypeError('Failed to fetch');
      };
      const analytics = visit({ ...DIRECT, fetch }, 'complete');
      await rest();
      analytics.event('a');
      await rest(1_500);
      site.say(site.win, 'beforeunload');
      await rest(8_000);
      isDown = false;
      await rest(30_000);
      expect(analytics.status()).toMatchObject({ delivered: 1, unknown: 0 });
    },
  );

  it.each([200, 503])('sees answers that a dialog has held up: %i', async (status) => {
    let answer!: (response: Response) => void;
    const fetch = vi.fn(receiver.fetch).mockReturnValueOnce(new Promise((done) => (answer = done)));
    const analytics = visit({ ...DIRECT, fetch }, 'complete');
    await rest();
    analytics.event('a');
    await rest(1_500);
    const began = Date.now();
    site.say(site.win, 'beforeunload');
    // The page stands still. Its timers are due as it goes on, and run before the answer.
    while (Date.now() < began + STAYS_MS && vi.getTimerCount()) vi.advanceTimersToNextTimer();
    answer(status === 200 ? answerTo('{}') : new Response('', { status }));
    await rest(20_000);
    expect(analytics.status()).toMatchObject({ delivered: 1, unknown: 0 });
  });
});

describe('a page that has not loaded', () => {
  it.each(EACH)(
    'sends its first call at once, and others with the interval, %s',
    async (_, options) => {
      const analytics = visit(options);
      await rest();
      analytics.event('first');
      await rest(60);
      expect(receiver.names()).toEqual(['first']);
      for (let i = 0; i < 10; i++) {
        analytics.event(`${i}`);
        await rest(20);
      }
      expect(receiver.names()).toEqual(['first']);
      await rest(1_500);
      expect(receiver.names()).toHaveLength(11);
    },
  );

  it('does not hurry once it has', async () => {
    const analytics = visit(DIRECT, 'complete');
    await rest();
    analytics.event('first');
    await rest(600);
    expect(receiver.names()).toEqual([]);
  });
});

it.each(EACH)(
  'hands off what was called in the task of `window.close()`, %s',
  async (_, options) => {
    const analytics = visit(options, 'complete');
    await rest();
    analytics.event('a');
    vi.stubGlobal('closed', true);
    await undefined;
    await undefined;
    expect(receiver.names()).toEqual(['a']);
  },
);

describe('a hidden page that goes on', () => {
  const writes = () => {
    const set = vi.spyOn(site.values, 'set');
    return () => set.mock.calls.filter(([key]) => key.includes(' note ')).length;
  };

  it.each(EACH)('sends and notes about as rarely as a visible one, %s', async (_, options) => {
    const analytics = visit(options, 'complete');
    await rest();
    site.hide();
    const noted = writes();
    for (let i = 0; i < 200; i++) {
      analytics.event(`${i}`);
      await rest(20);
    }
    await rest(1_500);
    expect(receiver.names()).toHaveLength(200);
    expect(new Set(receiver.names()).size).toBe(200);
    if ('relay' in options) expect(receiver.requests.length).toBeLessThanOrEqual(7);
    expect(noted()).toBeLessThanOrEqual(7);
    expect(analytics.status()).toMatchObject({ delivered: 200, waiting: 0 });
  });

  it('sends what is called after a rest at once', async () => {
    const analytics = visit(RELAY, 'complete');
    await rest();
    site.hide();
    for (const name of ['a', 'b']) {
      analytics.event(name);
      await undefined;
      await undefined;
      expect(receiver.names().at(-1)).toBe(name);
      await rest(2_500);
    }
    expect(receiver.requests).toHaveLength(2);
  });

  it('has stored what was called last when it is killed', async () => {
    const analytics = visit(RELAY, 'complete');
    await rest();
    site.hide();
    for (let i = 0; i < 10; i++) {
      analytics.event(`${i}`);
      await rest(20);
    }
    expect(receiver.names()).toEqual(['0']);
    const stored = await storedIn('analytics-outbox relay:https://shop.example/a shop');
    const names = stored.flatMap(({ records = [] }) => records.map(({ body }) => eventsIn(body)));
    expect(names.flat()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });
});
