import { names } from '../../../e2e/support/names.js';
import { mountRelay, RELAY } from '../../../e2e/support/relay.js';
import { track } from '../../../e2e/support/track.js';
import {
  CALLS_AFTER_IT,
  eventsOf,
  LONGER_OUTAGE,
  SHORT_OUTAGE,
  spendVisit,
  type Visit,
} from '../../../e2e/support/visit.js';
import { MANY_RUNS, type Row } from '../row.js';
import { SETUP, type Stage } from '../stage.js';
import { statusOf, trackAndClose, TWENTY, waitFor, waitForPause } from '../steps.js';
import { allOnce, atLeastOnce, dropped } from '../verdicts.js';

const group = 'The service in trouble';

/** The visitor has left for good, so what has not arrived by then never will. */
const NOBODY_SENDS_MS = 2_000;
/** A short visit. */
const VISIT_MS = 6_000;

/** Fails all requests with this status until pages have heard of it. */
const failing = (status: number): Row => ({
  id: `status-${status}`,
  group,
  what: `${status} for a while`,
  promised: allOnce,
  run: async (stage) => {
    const tab = await stage.visit();
    // Not a number of times: Chromium itself repeats a request that was answered 408.
    await stage.service.faults([{ status }]);
    await track(tab, TWENTY);
    await waitFor('a penalty', async () => (await statusOf(tab)).paused === 'backoff');
    await stage.service.faults([]);
    return TWENTY;
  },
});

/** How pages send: options beside the usual ones. */
type Way = (stage: Stage) => Promise<Record<string, unknown>>;

const direct: Way = async () => ({});
const byRelay: Way = async ({ site, service }) => {
  await mountRelay({ site, service, ...SETUP });
  return { baseUrl: undefined, token: undefined, relay: RELAY };
};

/** A visit in which the service is away for a while. Nobody is there to deliver later what is left of it. */
const oneVisit = (
  id: string,
  what: string,
  visit: Visit,
  away: 'refuses' | 'answers 503',
  way = direct,
): Row => ({
  id: `one-visit-${id}`,
  group,
  what,
  promised: allOnce,
  within: NOBODY_SENDS_MS,
  run: async (stage) => {
    const { service } = stage;
    const tab = await stage.visitPopup(await way(stage));
    const isGone = away === 'refuses';
    await (isGone ? service.stop() : service.faults([{ status: 503 }]));
    await spendVisit(tab, visit, {
      heal: () => (isGone ? service.start() : service.faults([])),
      arrived: async () => (await service.events()).length,
    });
    await trackAndClose(tab, []);
    return eventsOf(visit);
  },
});

/** One record is answered this, always, and fresh ones are called in every one of some short visits. */
const starvation = (status: number, id = `${status}`, way = direct): Row => ({
  id: `starvation-${id}`,
  group,
  what: `${status} for one record in 4 visits of 2 events, which all arrive in theirs; then it passes, too${way === byRelay ? ', by relay' : ''}`,
  promised: allOnce,
  run: async (stage) => {
    const { service } = stage;
    const options = await way(stage);
    const tab = await stage.visit(options);
    await service.faults([{ match: { event: 'bad' }, status }]);
    await track(tab, ['bad']);
    const fresh: string[] = [];
    for (let visit = 0; visit < 4; visit++) {
      if (visit > 0) await tab.goto(stage.page(`/visit-${visit}`, stage.tagged(options)));
      fresh.push(...names(2, `visit ${visit}, event`));
      await track(tab, fresh.slice(-2));
      await waitFor(
        `the events of visit ${visit}`,
        async () => (await service.events()).length === fresh.length,
        VISIT_MS,
      );
      // Stopped at rest: a request that is cut off has an unknown end, and is not sent again.
      await waitFor('the end of its requests', () =>
        tab.evaluate(() => {
          if (analytics.status().inFlight > 0) return false;
          analytics.stop();
          return true;
        }),
      );
    }
    await service.faults([]);
    await tab.goto(stage.page('/last-visit', stage.tagged(options)));
    return ['bad', ...fresh];
  },
});

export const serviceRows: readonly Row[] = [
  {
    id: 'plain',
    group,
    what: 'nothing: 100 events and 3 identifies',
    promised: allOnce,
    run: async (stage) => {
      const tab = await stage.visit();
      await tab.evaluate(() => {
        for (let i = 0; i < 100; i++) {
          if (i % 40 === 0) analytics.identify(`user ${i}`, { i });
          analytics.event(`event ${i}`, { tags: { i } });
        }
      });
      return [...names(100), ...[0, 40, 80].map((i) => `identify user ${i}`)];
    },
  },
  {
    id: 'slow',
    group,
    what: 'each answer takes a second',
    promised: allOnce,
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.service.faults([{ delay: 1_000 }]);
      await track(tab, TWENTY);
      return TWENTY;
    },
  },
  {
    id: 'status-500',
    group,
    what: '500 five times for one record',
    promised: allOnce,
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.service.faults([{ match: { event: 'event 3' }, status: 500, times: 5 }]);
      await track(tab, TWENTY);
      return TWENTY;
    },
  },
  {
    id: 'five-500',
    group,
    what: '500 for the first five requests; all arrive within 15 s',
    promised: allOnce,
    within: NOBODY_SENDS_MS,
    run: async (stage) => {
      const tab = await stage.visitPopup();
      await stage.service.faults([{ status: 500, times: 5 }]);
      await spendVisit(
        tab,
        { ...SHORT_OUTAGE, awayMs: 0 },
        {
          heal: () => undefined,
          arrived: async () => (await stage.service.events()).length,
        },
      );
      await trackAndClose(tab, []);
      return TWENTY;
    },
  },
  oneVisit('503', '503 for 3 s; the tab is closed at 15 s, for good', SHORT_OUTAGE, 'answers 503'),
  oneVisit('refused', 'connections are refused for 3 s; the same', SHORT_OUTAGE, 'refuses'),
  oneVisit(
    'longer',
    '503 for 8 s; 5 more events at 10 s; the tab is closed at 30 s, for good',
    LONGER_OUTAGE,
    'answers 503',
  ),
  oneVisit(
    'calls-after',
    'refused for 3 s, 6 events meanwhile and 4 after; the tab is closed at 12 s, for good',
    CALLS_AFTER_IT,
    'refuses',
  ),
  oneVisit(
    'relay-503',
    'by relay: 503 for 3 s; the tab is closed at 15 s, for good',
    SHORT_OUTAGE,
    'answers 503',
    byRelay,
  ),
  oneVisit(
    'relay-refused',
    'by relay: the service refuses connections for 3 s; the same',
    SHORT_OUTAGE,
    'refuses',
    byRelay,
  ),
  starvation(403),
  starvation(404),
  starvation(429),
  starvation(403, 'relay-403', byRelay),
  failing(408),
  failing(425),
  failing(503),
  {
    id: 'status-429',
    group,
    what: '429 with `Retry-After: 2`; no request within the penalty',
    promised: allOnce,
    run: async (stage) => {
      const tab = await stage.visit();
      const headers = { 'retry-after': '2' };
      // The six requests that start together: a page cannot call back what it sent before the first answer.
      await stage.service.faults([{ status: 429, headers, times: 6 }]);
      await track(tab, TWENTY);
      await waitFor('the delivery', async () => (await stage.service.events()).length >= 20);
      const requests = await stage.service.requests();
      const refused = requests.filter(({ status }) => status === 429);
      const early = requests.filter(
        ({ at, status }) => status !== 429 && at - refused.at(-1)!.at < 2_000,
      );
      if (early.length) throw new Error(`${early.length} requests within the penalty`);
      return TWENTY;
    },
  },
  {
    id: 'one-400',
    group,
    what: '400 for one of 20',
    promised: dropped(1, 'rejected'),
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.service.faults([{ match: { event: 'event 3' }, status: 400 }]);
      await track(tab, TWENTY);
      return TWENTY;
    },
  },
  {
    id: 'one-success-false',
    group,
    what: '200 with `success: false` for one of 20',
    promised: dropped(1, 'rejected'),
    run: async (stage) => {
      const tab = await stage.visit();
      const body = { success: false, message: 'no' };
      await stage.service.faults([{ match: { event: 'event 3' }, status: 200, body }]);
      await track(tab, TWENTY);
      return TWENTY;
    },
  },
  {
    id: 'wrong-token',
    group,
    what: '401, then `init` with the right token',
    promised: allOnce,
    run: async (stage) => {
      const tab = await stage.visit({ token: 'wrong' });
      await track(tab, TWENTY);
      await waitForPause(tab, 'setup');
      await tab.evaluate((options) => analytics.init(options), {
        baseUrl: stage.baseUrl,
        token: stage.service.token,
        ...SETUP,
      });
      return TWENTY;
    },
  },
  {
    id: 'captive-portal',
    group,
    what: 'a captive portal answers 200 with HTML; the network is well for the next page',
    promised: allOnce,
    run: async (stage) => {
      const tab = await stage.visit();
      const headers = { 'content-type': 'text/html' };
      await stage.service.faults([{ status: 200, headers, body: '<html>Log in</html>' }]);
      await track(tab, TWENTY);
      await waitForPause(tab, 'setup');
      await stage.service.faults([]);
      await tab.goto(stage.bare());
      await stage.visit();
      return TWENTY;
    },
  },
  {
    id: 'redirect',
    group,
    what: 'requests are redirected to a login page; no more so for the next page',
    promised: allOnce,
    run: async (stage) => {
      const tab = await stage.visit();
      const headers = { location: `${stage.site.url}/bare` };
      await stage.service.faults([{ status: 302, headers }]);
      await track(tab, TWENTY);
      await waitForPause(tab, 'setup', 'unreachable');
      await stage.service.faults([]);
      await tab.goto(stage.bare());
      await stage.visit();
      return TWENTY;
    },
  },
  {
    id: 'first-hangs',
    group,
    what: 'the first request hangs (`timeout: 3000`)',
    promised: allOnce,
    run: async (stage) => {
      const tab = await stage.visit({ timeout: 3_000 });
      await stage.service.faults([{ hang: true, times: 1 }]);
      await track(tab, TWENTY);
      // The others pass while it hangs.
      await waitFor('the others', async () => (await stage.service.events()).length >= 19, 10_000);
      return TWENTY;
    },
  },
  {
    id: 'reset',
    group,
    what: 'three connections are reset before anything is stored',
    promised: allOnce,
    runs: MANY_RUNS,
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.service.faults([{ reset: true, times: 3 }]);
      await track(tab, TWENTY);
      return TWENTY;
    },
  },
  {
    id: 'reset-after',
    group,
    what: 'three connections are reset after storing',
    promised: atLeastOnce,
    runs: MANY_RUNS,
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.service.faults([{ reset: true, after: true, times: 3 }]);
      await track(tab, TWENTY);
      return TWENTY;
    },
  },
  {
    id: 'reset-after-key',
    group,
    what: 'the same, with `idempotencyKey`',
    promised: allOnce,
    runs: MANY_RUNS,
    run: async (stage) => {
      const tab = await stage.visit({ idempotencyKey: true });
      await stage.service.faults([{ reset: true, after: true, times: 3 }]);
      await track(tab, TWENTY);
      return TWENTY;
    },
  },
  {
    id: 'restart',
    group,
    what: 'the service is stopped and started again in the middle of a flush of 100',
    promised: allOnce,
    because:
      'connections break while requests are on their way. Without `idempotencyKey` a request whose answer was lost is sent again.',
    runs: MANY_RUNS,
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.service.faults([{ delay: 20 }]);
      await track(tab, names(100));
      await waitFor('the first ten', async () => (await stage.service.events()).length >= 10);
      await stage.service.stop();
      await stage.service.start();
      // WebKit breaks off requests without keepalive as the page is left: that is another fault.
      await waitFor('the end of what is under way', async () => {
        const { inFlight, paused, waiting } = await statusOf(tab);
        return inFlight === 0 && (paused !== undefined || waiting === 0);
      });
      await tab.goto(stage.bare());
      await stage.visit();
      return names(100);
    },
  },
];
