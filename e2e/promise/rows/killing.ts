import { names } from '../../support/names.js';
import { storedFlight } from '../../support/stored-records.js';
import { track } from '../../support/track.js';
import type { Tab } from '../engines/engine.js';
import type { Row } from '../row.js';
import type { Stage } from '../stage.js';
import {
  trackAndClose,
  TWENTY,
  waitAtRest,
  waitFor,
  waitForStorage,
  waitUntilStored,
} from '../steps.js';
import { allOnce, onceOrUnknown, onceUnlessLost, unknown } from '../verdicts.js';

/** Requests that hang outlive their page, and a browser opens six connections to a service. */
const HANGING = 3;

/** Until the outbox has all of these, and says of none that it is under way. */
const waitForDisk = async (tab: Tab, count: number): Promise<void> => {
  await waitUntilStored(tab, count);
  await waitFor('the end of all requests', async () => (await storedFlight(tab)).length === 0);
};

const killInFlight = async (
  stage: Stage,
  kill: () => Promise<void>,
): Promise<readonly string[]> => {
  const tab = await stage.visit({ concurrency: HANGING });
  await stage.faults([{ hang: true, after: true, times: HANGING - 1 }, { hang: true }]);
  await track(tab, TWENTY);
  await waitUntilStored(tab, 20);
  await waitFor('the requests', async () => {
    const { inFlight } = await tab.evaluate(() => analytics.status());
    return inFlight >= HANGING && (await stage.asked()) >= (stage.way === 'relay' ? 1 : HANGING);
  });
  await kill();
  await stage.faults([]);
  await stage.nextVisit();
  return TWENTY;
};

/** 20 calls and this end, of a page that has its database; then the next visit. */
const ending = (row: Omit<Row, 'run'>, end: (stage: Stage, tab: Tab) => Promise<void>): Row => ({
  needs: { durable: true },
  ...row,
  run: async (stage) => {
    const tab = await stage.visit();
    await waitForStorage(tab);
    await end(stage, tab);
    await stage.nextVisit();
    return TWENTY;
  },
});

const KILLED_BEFORE_STORED = {
  promised: onceUnlessLost,
  because:
    'a call is in IndexedDB some milliseconds later, and a process killed before that takes it along',
};

export const killingRows: readonly Row[] = [
  {
    id: 'killed-in-flight',
    what: 'a tab is killed while it sends: of 20 records 3 are under way, 2 of them stored',
    promised: { direct: unknown(1), key: allOnce, relay: allOnce },
    nightly: ['key'],
    needs: { durable: true },
    run: (stage) => killInFlight(stage, stage.browser.crashPages),
  },
  {
    id: 'browser-killed-in-flight',
    what: 'the same, but the whole browser is killed',
    promised: { direct: unknown(1), key: allOnce, relay: allOnce },
    nightly: true,
    needs: { durable: true },
    run: (stage) =>
      killInFlight(stage, async () => {
        await stage.browser.kill();
        await stage.browser.start();
      }),
  },
  {
    id: 'killed-as-it-sends',
    what: 'the browser is killed with the first of 20 requests under way, and nothing was written since it began',
    promised: allOnce,
    needs: { durable: true },
    run: async (stage) => {
      const head = `<script>{
  const { prototype } = IDBDatabase;
  const send = fetch;
  fetch = (...given) => {
    prototype.transaction = () => { throw new Error('too late'); };
    return send(...given);
  };
}</script>`;
      const tab = await stage.visit({ concurrency: 1 }, { head });
      await waitForStorage(tab);
      await stage.faults([{ hang: true, after: true }]);
      await track(tab, TWENTY);
      await waitFor('the request', async () => (await stage.service.events()).length === 1);
      await stage.browser.kill();
      await stage.faults([]);
      await stage.browser.start();
      await stage.nextVisit();
      return TWENTY;
    },
  },
  {
    id: 'hidden-as-it-names',
    what: 'a page in trouble is hidden while a record is being named as in flight, goes on, and is killed with the request under way',
    promised: allOnce,
    needs: { durable: true },
    run: async (stage) => {
      // The page hears that it is hidden in the middle of the write, and writes nothing to its database once it has sent.
      const head = `<script>{
  let isHidden = false;
  Object.defineProperty(document, 'visibilityState', { get: () => (isHidden ? 'hidden' : 'visible') });
  const { put } = IDBObjectStore.prototype;
  let names = 0;
  IDBObjectStore.prototype.put = function (value, ...key) {
    if (value.flight?.length && ++names === 2) {
      isHidden = true;
      document.dispatchEvent(new Event('visibilitychange'));
    }
    return put.call(this, value, ...key);
  };
  const send = fetch;
  fetch = (...given) => {
    if (isHidden) IDBDatabase.prototype.transaction = () => { throw new Error('too late'); };
    return send(...given);
  };
}</script>`;
      const tab = await stage.visit({ concurrency: 1 }, { head });
      await waitForStorage(tab);
      await stage.faults([
        { status: 503, times: 1 },
        { hang: true, after: true },
      ]);
      await track(tab, ['one']);
      await waitFor('the request', async () => (await stage.service.events()).length === 1);
      await stage.browser.crashPages();
      await stage.faults([]);
      await stage.nextVisit();
      return ['one'];
    },
  },
  ending(
    {
      id: 'killed-at-once',
      what: '20 calls, then the page’s process is killed at once',
      promised: { direct: onceOrUnknown, relay: allOnce },
      nightly: ['relay'],
      except: { webkit: KILLED_BEFORE_STORED },
    },
    async ({ browser }, tab) => {
      await track(tab, TWENTY);
      await browser.crashPages();
    },
  ),
  {
    id: 'browser-killed-offline',
    what: '20 events and an identify offline; once they are stored, the whole browser is killed',
    promised: { direct: allOnce, relay: allOnce },
    nightly: ['relay'],
    needs: { durable: true },
    run: async (stage) => {
      const tab = await stage.visit();
      await waitForStorage(tab);
      await stage.offline(true);
      await tab.evaluate(() => analytics.identify('user_1', { plan: 'pro' }));
      await track(tab, TWENTY);
      await waitForDisk(tab, 21);
      await stage.browser.kill();
      // Stopped where the engine only pretends to be offline.
      await stage.mend();
      await stage.browser.start();
      await stage.nextVisit();
      return ['identify user_1', ...TWENTY];
    },
  },
  ending(
    {
      id: 'browser-quit',
      what: '20 calls, then the browser is quit with the page open',
      promised: onceOrUnknown,
    },
    async ({ browser }, tab) => {
      await track(tab, TWENTY);
      await browser.quit();
      await browser.start();
    },
  ),
  {
    id: 'close-and-quit',
    what: 'a last call, the tab closes in the same task, and the browser is quit at once',
    promised: { direct: onceOrUnknown, key: allOnce, relay: allOnce },
    except: { webkit: KILLED_BEFORE_STORED },
    nightly: true,
    needs: { durable: true },
    run: async (stage) => {
      const tab = await stage.visitPopup();
      await waitForStorage(tab);
      await trackAndClose(tab, ['last']);
      await stage.browser.quit();
      await stage.browser.start();
      await stage.nextVisit();
      return ['last'];
    },
  },
  {
    id: 'browser-restarted',
    what: '50 events offline, then the browser is quit and started again; each has the time of its call',
    promised: { direct: allOnce, relay: allOnce },
    nightly: ['relay'],
    needs: { durable: true, forgetsPages: true },
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.offline(true);
      const times = await track(tab, names(50));
      await waitAtRest(tab, 50);
      // What imitates being offline ends with the browser: let the page end before.
      await tab.goto('about:blank');
      await stage.browser.quit();
      // Stopped where the engine only pretends to be offline.
      await stage.mend();
      await stage.browser.start();
      await stage.nextVisit();
      await waitFor('the delivery', async () => (await stage.service.events()).length === 50);
      for (const { event, timestamp } of await stage.service.events()) {
        const off = Math.abs(Date.parse(timestamp) - times[event]!);
        if (off > 250) throw new Error(`The time of ${event} is ${off} ms off`);
      }
      return names(50);
    },
  },
];
