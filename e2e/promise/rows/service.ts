import { setTimeout as pause } from 'node:timers/promises';
import type { FaultRule } from '../../../demo/server/fault-rules.js';
import { names } from '../../support/names.js';
import { statusOf } from '../../support/status-of.js';
import { track } from '../../support/track.js';
import type { Row } from '../row.js';
import type { Stage } from '../stage.js';
import { trackAndClose, TWENTY, waitFor, waitForPause } from '../steps.js';
import { allOnce, atLeastOnce } from '../verdicts.js';

/** The visitor has left for good, so what has not arrived by then never will. */
const NOBODY_SENDS_MS = 2_000;
const OUTAGE_MS = 3_000;
const VISIT_MS = 15_000;

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

export const serviceRows: readonly Row[] = [
  meeting({ id: 'slow', what: 'each answer takes a second', promised: allOnce }, [
    { delay: 1_000 },
  ]),
  {
    id: 'one-visit',
    what: 'connections are refused for 3 s; the tab is closed at 15 s, for good',
    promised: DIRECT_AND_RELAY,
    nightly: ['relay'],
    within: NOBODY_SENDS_MS,
    run: async (stage) => {
      const tab = await stage.visitPopup();
      await stage.cut();
      const began = performance.now();
      await track(tab, TWENTY);
      await pause(OUTAGE_MS);
      await stage.mend();
      const left = VISIT_MS - (performance.now() - began);
      await waitFor('all', async () => (await stage.service.events()).length === 20, left);
      await trackAndClose(tab, []);
      return TWENTY;
    },
  },
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
