import { track } from '../../support/track.js';
import type { Row } from '../row.js';
import { TWENTY, waitForPause, waitUntilStored } from '../steps.js';
import { allOnce } from '../verdicts.js';

const HOST = 'service.test';

const unreachableUntilRestart: Row['run'] = async (stage) => {
  const tab = await stage.visit();
  await track(tab, TWENTY);
  await waitForPause(tab, 'unreachable');
  await waitUntilStored(tab, 20);
  await tab.goto(stage.bare());
  await stage.browser.quit();
  await stage.browser.start();
  await stage.nextVisit();
  return TWENTY;
};

export const networkRows: readonly Row[] = [
  {
    id: 'offline',
    what: 'offline, then online on the same page',
    promised: { direct: allOnce, relay: allOnce },
    nightly: ['relay'],
    within: 10_000,
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.offline(true);
      await track(tab, TWENTY);
      await waitForPause(tab, 'offline');
      await stage.offline(false);
      return TWENTY;
    },
  },
  {
    id: 'no-name',
    what: 'the name of the service does not resolve; after a restart of the browser it does',
    promised: allOnce,
    needs: { durable: true, host: HOST },
    except: { webkit: { because: 'names are the system’s, and a test does not change those' } },
    run: unreachableUntilRestart,
  },
  {
    id: 'blocked-by-csp',
    what: 'the page’s policy (`connect-src`) blocks the requests; that of the next page does not',
    promised: allOnce,
    run: async (stage) => {
      const policy = `<meta http-equiv="Content-Security-Policy" content="connect-src 'self'">`;
      const tab = await stage.visit({}, { head: policy });
      await track(tab, TWENTY);
      await waitForPause(tab, 'unreachable');
      await tab.goto(stage.bare());
      await stage.visit();
      return TWENTY;
    },
  },
  {
    id: 'blocked-by-client',
    what: 'the browser blocks the requests, as for an ad blocker, until it is restarted',
    promised: allOnce,
    needs: { durable: true, isBlocked: true },
    run: unreachableUntilRestart,
  },
];
