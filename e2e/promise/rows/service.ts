import type { FaultRule } from '../../../demo/server/fault-rules.js';
import { names } from '../../support/names.js';
import { setupOf } from '../../support/setup-of.js';
import { statusOf } from '../../support/status-of.js';
import { track } from '../../support/track.js';
import {
  eventsOf,
  LONGER_OUTAGE,
  SHORT_OUTAGE,
  spendVisit,
  type Visit,
} from '../../support/visit.js';
import type { Row } from '../row.js';
import type { Stage } from '../stage.js';
import { trackAndClose, TWENTY, waitFor, waitForPause } from '../steps.js';
import { allOnce, atLeastOnce, dropped } from '../verdicts.js';

/** The visitor has left for good, so what has not arrived by then never will. */
const NOBODY_SENDS_MS = 2_000;
/** A short visit. */
const VISIT_MS = 6_000;

const EACH_WAY = { direct: allOnce, key: allOnce, relay: allOnce };
const DIRECT_AND_RELAY = { direct: allOnce, relay: allOnce };

/** 20 calls, whose requests meet these faults. */
const meeting = (row: Omit<Row, 'run'>, rules: readonly FaultRule[]): Row => ({
  ...row,
  run: async (stage) => {
    const tab = await stage.visit();
    await stage.faults(rules);
    await track(tab, TWENTY);
    return TWENTY;
  },
});

/** Answers all requests so until pages have heard of it. The next page finds the service well again. */
const answering = (row: Omit<Row, 'run'>, rule: (stage: Stage) => FaultRule): Row => ({
  ...row,
  run: async (stage) => {
    const tab = await stage.visit();
    await stage.faults([rule(stage)]);
    await track(tab, TWENTY);
    await waitForPause(tab, 'setup', 'unreachable');
    await stage.faults([]);
    await tab.goto(stage.bare());
    await stage.visit();
    return TWENTY;
  },
});

/** Fails all requests with this status until pages have heard of it. */
const failing = (status: number, when: Pick<Row, 'nightly'> = {}): Row => ({
  id: `status-${status}`,
  what: `${status} for a while`,
  promised: allOnce,
  ...when,
  run: async (stage) => {
    const tab = await stage.visit();
    // Not a number of times: Chromium itself repeats a request that was answered 408.
    await stage.faults([{ status }]);
    await track(tab, TWENTY);
    await waitFor('a penalty', async () => (await statusOf(tab)).paused === 'backoff');
    await stage.faults([]);
    return TWENTY;
  },
});

/** Ways for requests to fail: what begins the trouble, and what ends it. */
const TROUBLES = {
  'answers 503': ({ faults }: Stage) => [() => faults([{ status: 503 }]), () => faults([])],
  'is away': ({ cut, mend }: Stage) => [cut, mend],
  'is away behind the relay': ({ service }: Stage) => [service.stop, service.start],
} satisfies Record<string, (stage: Stage) => (() => Promise<void>)[]>;

/** A visit in which the service fails for a while. Nobody is there to deliver later what is left of it. */
const oneVisit = (
  row: Pick<Row, 'id' | 'what' | 'promised' | 'nightly'>,
  trouble: keyof typeof TROUBLES,
  visit: Visit,
): Row => ({
  ...row,
  within: NOBODY_SENDS_MS,
  run: async (stage) => {
    const tab = await stage.visitPopup();
    const [begin, heal] = TROUBLES[trouble](stage);
    await begin!();
    const arrived = async () => (await stage.service.events()).length;
    await spendVisit(tab, visit, { heal: heal!, arrived });
    await trackAndClose(tab, []);
    return eventsOf(visit);
  },
});

/** One record is answered this, always, and fresh ones are called in every one of some short visits. */
const starvation = (status: number, promised: Row['promised'] = allOnce): Row => ({
  id: `starvation-${status}`,
  what: `${status} for one record in 4 visits of 2 events, which all arrive in theirs; then it passes, too`,
  promised,
  nightly: true,
  run: async (stage) => {
    const { service } = stage;
    const tab = await stage.visit();
    await service.faults([{ match: { event: 'bad' }, status }]);
    await track(tab, ['bad']);
    const fresh: string[] = [];
    for (let visit = 0; visit < 4; visit++) {
      if (visit > 0) await tab.goto(stage.page(`/visit-${visit}`, stage.tagged()));
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
    await tab.goto(stage.page('/last-visit', stage.tagged()));
    return ['bad', ...fresh];
  },
});

export const serviceRows: readonly Row[] = [
  {
    id: 'plain',
    what: 'nothing: 100 events and 3 identifies',
    promised: EACH_WAY,
    nightly: true,
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
  meeting({ id: 'slow', what: 'each answer takes a second', promised: allOnce, nightly: true }, [
    { delay: 1_000 },
  ]),
  meeting(
    { id: 'status-500', what: '500 five times for one record', promised: allOnce, nightly: true },
    [{ match: { event: 'event 3' }, status: 500, times: 5 }],
  ),
  oneVisit(
    {
      id: 'one-visit-refused',
      what: 'connections are refused for 3 s; the tab is closed at 15 s, for good',
      promised: DIRECT_AND_RELAY,
      nightly: true,
    },
    'is away',
    SHORT_OUTAGE,
  ),
  oneVisit(
    {
      id: 'one-visit-503',
      what: '503 for 3 s; the tab is closed at 15 s, for good',
      promised: DIRECT_AND_RELAY,
      nightly: true,
    },
    'answers 503',
    SHORT_OUTAGE,
  ),
  oneVisit(
    {
      id: 'one-visit-longer',
      what: '503 for 8 s; 5 more events at 10 s; the tab is closed at 30 s, for good',
      promised: allOnce,
      nightly: true,
    },
    'answers 503',
    LONGER_OUTAGE,
  ),
  oneVisit(
    {
      id: 'one-visit-behind',
      what: 'the service behind the relay refuses connections for 3 s; the tab is closed at 15 s, for good',
      promised: { relay: allOnce },
      nightly: true,
    },
    'is away behind the relay',
    SHORT_OUTAGE,
  ),
  starvation(403, DIRECT_AND_RELAY),
  starvation(404),
  starvation(429),
  failing(408),
  failing(425, { nightly: true }),
  failing(503, { nightly: true }),
  {
    id: 'status-429',
    what: '429 with `Retry-After: 2`; no request within the penalty',
    promised: allOnce,
    nightly: true,
    run: async (stage) => {
      const tab = await stage.visit();
      const headers = { 'retry-after': '2' };
      // The six requests that start together: a page cannot call back what it sent before the first answer.
      await stage.faults([{ status: 429, headers, times: 6 }]);
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
  meeting(
    { id: 'one-400', what: '400 for one of 20', promised: dropped(1, 'rejected'), nightly: true },
    [{ match: { event: 'event 3' }, status: 400 }],
  ),
  meeting(
    {
      id: 'one-success-false',
      what: '200 with `success: false` for one of 20',
      promised: dropped(1, 'rejected'),
      nightly: true,
    },
    [{ match: { event: 'event 3' }, status: 200, body: { success: false, message: 'no' } }],
  ),
  {
    id: 'wrong-token',
    what: '401, then `init` with the right token',
    promised: allOnce,
    nightly: true,
    run: async (stage) => {
      const tab = await stage.visit({ token: 'wrong' });
      await track(tab, TWENTY);
      await waitForPause(tab, 'setup');
      await tab.evaluate((options) => analytics.init(options), setupOf(stage.service));
      return TWENTY;
    },
  },
  answering(
    {
      id: 'captive-portal',
      what: 'a captive portal answers 200 with HTML; the network is well for the next page',
      promised: allOnce,
    },
    () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Log in</html>' }),
  ),
  answering(
    {
      id: 'redirect',
      what: 'requests are redirected to a login page; no more so for the next page',
      promised: allOnce,
    },
    ({ site }) => ({ status: 302, headers: { location: `${site.url}/bare` } }),
  ),
  {
    id: 'first-hangs',
    what: 'the first request hangs (`timeout: 3000`)',
    promised: allOnce,
    nightly: true,
    run: async (stage) => {
      const tab = await stage.visit({ timeout: 3_000 });
      await stage.faults([{ hang: true, times: 1 }]);
      await track(tab, TWENTY);
      // The others pass while it hangs.
      await waitFor('the others', async () => (await stage.service.events()).length >= 19, 10_000);
      return TWENTY;
    },
  },
  meeting(
    {
      id: 'reset',
      what: 'three connections are reset before anything is stored',
      promised: allOnce,
    },
    [{ reset: true, times: 3 }],
  ),
  meeting(
    {
      id: 'reset-after',
      what: 'three connections are reset after storing',
      promised: { direct: atLeastOnce, key: allOnce, relay: allOnce },
      nightly: ['key', 'relay'],
    },
    [{ reset: true, after: true, times: 3 }],
  ),
  {
    id: 'restart',
    what: 'the service is stopped and started again in the middle of a flush of 100',
    promised: { direct: atLeastOnce, key: allOnce },
    nightly: true,
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.faults([{ delay: 20 }]);
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
