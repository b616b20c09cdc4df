import { names } from '../../../e2e/support/names.js';
import { track } from '../../../e2e/support/track.js';
import { MANY_RUNS, type Row } from '../row.js';
import { SETUP } from '../stage.js';
import { statusOf, TWENTY, waitFor, waitForPause } from '../steps.js';
import { allOnce, atLeastOnce, dropped } from '../verdicts.js';

const group = 'The service in trouble';

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
      await stage.service.faults([{ status: 429, headers, times: 1 }]);
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
      // Attempts without an answer may have stopped this page for minutes; the next one tries at once.
      await tab.goto(stage.bare());
      await stage.visit();
      return names(100);
    },
  },
];
