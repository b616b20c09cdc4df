import { setTimeout as pause } from 'node:timers/promises';
import { names } from '../../../e2e/support/names.js';
import { track } from '../../../e2e/support/track.js';
import { MANY_RUNS, type Row } from '../row.js';
import type { Stage } from '../stage.js';
import { TWENTY, waitFor, waitForStorage, waitAtRest, waitUntilStored } from '../steps.js';
import { allOnce, onceOrUnknown } from '../verdicts.js';

const group = 'Crashes, and the end of the browser';
const HANGING = 3;

/** 20 calls; the page's process is killed while three requests meet these faults; another page opens. */
const killInFlight = async (
  stage: Stage,
  faults: Parameters<Stage['service']['faults']>[0],
  options: Record<string, unknown> = {},
): Promise<readonly string[]> => {
  const tab = await stage.visit({ ...options, concurrency: HANGING });
  await stage.service.faults(faults);
  await track(tab, TWENTY);
  await waitUntilStored(tab, 20);
  await waitFor('the requests', async () => (await stage.service.requests()).length >= HANGING);
  await stage.browser.crashPages();
  await stage.service.faults([]);
  await stage.nextVisit(options);
  return TWENTY;
};

export const killingRows: readonly Row[] = [
  {
    id: 'renderer-killed',
    group,
    what: '20 calls, then the page’s process is killed at once',
    promised: onceOrUnknown,
    because:
      'a call is in IndexedDB some milliseconds later. A process killed before that takes the calls with it.',
    runs: MANY_RUNS,
    needs: { durable: true },
    run: async (stage) => {
      const tab = await stage.visit();
      await waitForStorage(tab);
      await track(tab, TWENTY);
      await stage.browser.crashPages();
      await stage.nextVisit();
      return TWENTY;
    },
  },
  {
    id: 'renderer-killed-in-flight',
    group,
    what: '3 of 20 requests hang as the page’s process is killed',
    promised: onceOrUnknown,
    needs: { durable: true },
    run: (stage) => killInFlight(stage, [{ hang: true }]),
  },
  {
    id: 'renderer-killed-key',
    group,
    what: 'the same, 2 of the 3 stored, with `idempotencyKey`',
    promised: allOnce,
    needs: { durable: true },
    run: (stage) =>
      killInFlight(stage, [{ hang: true, after: true, times: 2 }, { hang: true }], {
        idempotencyKey: true,
      }),
  },
  {
    id: 'browser-killed-down',
    group,
    what: '20 calls with the service down; 300 ms later the whole browser is killed',
    promised: onceOrUnknown,
    runs: MANY_RUNS,
    needs: { durable: true },
    run: async (stage) => {
      const tab = await stage.visit();
      await waitForStorage(tab);
      await stage.service.stop();
      await track(tab, TWENTY);
      await pause(300);
      await stage.browser.kill();
      await stage.service.start();
      await stage.browser.start();
      await stage.nextVisit();
      return TWENTY;
    },
  },
  {
    id: 'browser-killed-offline',
    group,
    what: '20 events and an identify offline; 300 ms later the whole browser is killed',
    promised: allOnce,
    runs: MANY_RUNS,
    needs: { durable: true },
    run: async (stage) => {
      const tab = await stage.visit();
      await waitForStorage(tab);
      await stage.offline(true);
      await tab.evaluate(() => analytics.identify('user_1', { plan: 'pro' }));
      await track(tab, TWENTY);
      await pause(300);
      await stage.browser.kill();
      // Stopped where the engine only pretends to be offline.
      await stage.service.start();
      await stage.browser.start();
      await stage.nextVisit();
      return ['identify user_1', ...TWENTY];
    },
  },
  {
    id: 'browser-quit',
    group,
    what: '20 calls, then the browser is quit with the page open',
    promised: onceOrUnknown,
    runs: MANY_RUNS,
    needs: { durable: true },
    run: async (stage) => {
      const tab = await stage.visit();
      await waitForStorage(tab);
      await track(tab, TWENTY);
      await stage.browser.quit();
      await stage.browser.start();
      await stage.nextVisit();
      return TWENTY;
    },
  },
  {
    id: 'browser-restarted',
    group,
    what: '50 events offline, then the browser is quit and started again',
    promised: allOnce,
    needs: { durable: true, forgetsPages: true },
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.offline(true);
      await track(tab, names(50));
      await waitAtRest(tab, 50);
      // What imitates being offline ends with the browser: let the page end before.
      await tab.goto('about:blank');
      await stage.browser.quit();
      // Stopped where the engine only pretends to be offline.
      await stage.service.start();
      await stage.browser.start();
      await stage.nextVisit();
      return names(50);
    },
  },
];
