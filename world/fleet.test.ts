/** Many clients and one server in trouble, on one clock: how much more than usual the server is asked. */
import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTracker } from '../src/client/analytics.js';
import { createDirectSend } from '../src/client/delivery/send/direct.js';
import { DIRECT, openSite } from '../test/support/site.js';

/** So many that chance says little, and few enough for every push. */
const CLIENTS = 30;
const MINUTE_MS = 60_000;
const TROUBLE_AT_MS = 2 * MINUTE_MS;
/** What waits after ten minutes takes a server with this headroom 17 minutes, beside its daily work. */
const LENGTH_MS = 45 * MINUTE_MS;
const TEN_MINUTES_MS = 10 * MINUTE_MS;

/** The busiest client makes a call every half minute on average, the quietest every half hour. */
const [BUSIEST_MS, QUIETEST_MS] = [30_000, 30 * MINUTE_MS];
const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** Neighbours differ, and the logarithm is spread evenly. */
const callEvery = (client: number) =>
  BUSIEST_MS * (QUIETEST_MS / BUSIEST_MS) ** ((client * GOLDEN) % 1);
const USUAL = Array.from({ length: CLIENTS }, (_, client) => 1_000 / callEvery(client));
const usualPerSecond = USUAL.reduce((sum, one) => sum + one, 0);

/** What the server can do on a good day over what it has to; what it lets wait; how long an answer travels. */
const [HEADROOM, QUEUE_S, TRAVEL_MS] = [1.6, 10, 120];
const TICK_MS = 500;
/** A peak is measured over this time, because what so few clients do in a second is mostly chance. */
const PEAK_S = 30;
/** The first minute of an outage costs the most, since a page tries again within a second at first. */
const MOST_TIMES_THE_USUAL = 15;
const MOST_REPEATED = 0.02;

interface Weather {
  /** Share of the capacity of a good day. */
  capacity?: number;
  /** It gives this answer to everything, at once; status 0: connections are refused. */
  status?: number;
  retryAfterMs?: number;
}
/** The state of the server, this long after the trouble began; `offline`: clients that have no network meanwhile. */
interface Scenario {
  troubleMs: number;
  weather: (sinceMs: number) => Weather;
  offline?: number;
}

const [DEPLOY_MS, WARM_UP_MS, COLD] = [30_000, 5 * MINUTE_MS, 0.1];
const lasting = (weather: (sinceMs: number) => Weather): Scenario => ({
  ...{ troubleMs: TEN_MINUTES_MS, weather },
});
const SCENARIOS: Record<string, Scenario> = {
  'ten minutes of 503': lasting(() => ({ status: 503 })),
  'ten minutes of refused connections': lasting(() => ({ status: 0 })),
  'ten minutes at half the capacity': lasting(() => ({ capacity: 0.5 })),
  'ten minutes of 429, each with two minutes to wait': lasting(() => ({
    ...{ status: 429, retryAfterMs: 120_000 },
  })),
  'ten minutes of 429, with one moment to come back for all': lasting((since) => ({
    ...{ status: 429, retryAfterMs: TEN_MINUTES_MS - since },
  })),
  'a deploy, and five minutes from a tenth to all of the capacity': {
    troubleMs: DEPLOY_MS + WARM_UP_MS,
    weather: (since) =>
      since < DEPLOY_MS
        ? { status: 0 }
        : { capacity: Math.min(1, COLD + ((1 - COLD) * (since - DEPLOY_MS)) / WARM_UP_MS) },
  },
  'ten minutes in which a fifth of the clients have no network': {
    ...{ ...lasting(() => ({})), offline: 0.2 },
  },
};
const chosen = Object.entries(SCENARIOS).slice(0, process.env.NIGHT ? undefined : 1);

const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] as const;

/** The same chances in each run. */
const createDice =
  (state = 1) =>
  () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };

/** What a client can do and see in the world. */
interface World {
  /** One request of a client with one record, given up by its signal. Settles with the answer; status 0: refused. */
  send: (
    client: number,
    settle: (reply: { status: number; retryAfterMs: number }) => void,
    signal: AbortSignal,
  ) => void;
  /** A record waits no more. */
  ended: () => void;
}

/** A client whose pages have no database, so that records are in memory: the server sees no difference. */
const createClient = (client: number, { send, ended }: World) => {
  const fetch = (_: unknown, { signal }: RequestInit) =>
    new Promise<unknown>((resolve, reject) => {
      const settle: Parameters<World['send']>[1] = ({ status, retryAfterMs }) => {
        if (status === 0) return reject(new TypeError('Failed to fetch'));
        const retryAfter = retryAfterMs > 0 ? String(Math.ceil(retryAfterMs / 1_000)) : null;
        resolve({ status, text: async () => '{}', headers: { get: () => retryAfter } });
      };
      send(client, settle, signal!);
    });
  const open = () => {
    const { analytics } = createTracker(createDirectSend);
    analytics.on('outcome', ({ outcome }) => void (outcome === 'delivered' && ended()));
    analytics.on('drop', ended);
    analytics.init({ ...DIRECT, project: `${client}`, fetch: fetch as typeof globalThis.fetch });
    return analytics;
  };
  let page = open();
  return {
    call: () => page.event('Viewed'),
    /** The next page takes over what waits. What is in flight is left to the page that will hear of it. */
    navigate: () => {
      if (page.status().inFlight) return;
      page.stop();
      page = open();
    },
  };
};

let site: ReturnType<typeof openSite>;
beforeEach(() => {
  vi.useFakeTimers({ toFake: [...TIMERS] });
  vi.spyOn(Math, 'random').mockImplementation(createDice());
  site = openSite();
  setMaxListeners(0, site.win, site.doc);
  vi.stubGlobal('indexedDB', undefined);
});
afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it.each(chosen)('clients go easy on a server after %s, and it gets everything', async (_, it) => {
  const { troubleMs, weather, offline = 0 } = it;
  const start = Date.now();
  const since = () => Date.now() - start - TROUBLE_AT_MS;
  const isTrouble = () => since() >= 0 && since() < troubleMs;
  const current = (): Weather => (isTrouble() ? weather(since()) : {});
  const sentIn: number[] = [];
  let made = 0;
  let waiting = 0;
  let repeated = 0;

  // A server with one queue, which does not see that a client has given up.
  let queue: (() => void)[] = [];
  let budget = 0;
  setInterval(() => {
    const { capacity = 1, status } = current();
    budget += status === undefined ? (usualPerSecond * HEADROOM * capacity * TICK_MS) / 1_000 : 0;
    const now = queue.slice(0, Math.floor(budget));
    queue = queue.slice(now.length);
    budget = queue.length ? budget - now.length : budget % 1;
    for (const store of now) store();
  }, TICK_MS);

  const world: World = {
    ended: () => waiting--,
    send: (client, settle, signal) => {
      let isOver = false;
      const answer = (status: number, retryAfterMs = 0) =>
        setTimeout(() => {
          if (!isOver) settle({ status, retryAfterMs });
          isOver = true;
        }, TRAVEL_MS);
      signal.addEventListener('abort', () => {
        if (!isOver) settle({ status: 0, retryAfterMs: 0 });
        isOver = true;
      });
      if (isTrouble() && client < CLIENTS * offline) return void answer(0); // it does not reach the server
      const second = Math.floor((Date.now() - start) / 1_000);
      sentIn[second] = (sentIn[second] ?? 0) + 1;
      const { status, retryAfterMs } = current();
      if (status !== undefined) return void answer(status, retryAfterMs);
      if (queue.length >= usualPerSecond * QUEUE_S) return void answer(503);
      queue.push(() => {
        if (isOver) repeated++;
        answer(200);
      });
    },
  };
  for (let client = 0; client < CLIENTS; client++) {
    const page = createClient(client, world);
    const wait = () => -Math.log(1 - Math.random()) * callEvery(client);
    const call = () => {
      // Every second call comes with a new page of the site, which takes over what waits.
      if (Date.now() - start >= LENGTH_MS) return;
      if (Math.random() < 0.5) page.navigate();
      page.call();
      made++;
      waiting++;
      setTimeout(call, wait());
    };
    setTimeout(call, wait());
  }
  if (offline) setTimeout(() => site.say(site.win, 'online'), TROUBLE_AT_MS + troubleMs);
  for (let ms = 0; ms < LENGTH_MS + MINUTE_MS; ms += TICK_MS) {
    vi.advanceTimersByTime(TICK_MS);
    await new Promise(setImmediate); // what the answers of this tick have set going goes on before the next
  }

  const peakOf = (_: unknown, second: number) => {
    const sent = sentIn.slice(Math.max(0, second - PEAK_S + 1), second + 1);
    return sent.reduce((sum, one) => sum + (one ?? 0), 0) / PEAK_S / usualPerSecond;
  };
  const peak = Math.max(...Array.from({ length: LENGTH_MS / 1_000 }, peakOf));
  expect(peak).toBeLessThanOrEqual(MOST_TIMES_THE_USUAL);
  expect(waiting).toBe(0);
  expect(repeated / made).toBeLessThan(MOST_REPEATED);
});
