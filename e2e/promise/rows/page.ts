import { setTimeout as pause } from 'node:timers/promises';
import { heard } from '../../support/heard.js';
import { LATER } from '../../support/later.js';
import { names } from '../../support/names.js';
import { statusOf } from '../../support/status-of.js';
import { PROJECT } from '../../support/test.js';
import { track } from '../../support/track.js';
import type { Tab } from '../engines/engine.js';
import type { Row } from '../row.js';
import type { Stage } from '../stage.js';
import {
  returnFromCache,
  trackAndClose,
  trackAndGo,
  trackRefused,
  TWENTY,
  waitFor,
  waitForStorage,
  waitUntilStored,
} from '../steps.js';
import { undriven } from '../engines/undriven.js';
import { allOnce, onceOrUnknown, onceOrWaiting } from '../verdicts.js';

/** A page gives a transaction up after a second: one that was under way as it was left, a second after its return. */
const LONGER_THAN_WATCHDOG_MS = 1_200;
const NOTHING_TO_PRERENDER = { because: 'it does not prerender pages' };

/** 20 records, on a page that goes away and comes back from the back/forward cache; then one more. */
const returning = (
  row: Omit<Row, 'run'>,
  trip: (stage: Stage, tab: Tab) => Promise<void>,
): Row => ({
  ...row,
  run: async (stage) => {
    const tab = await stage.visit();
    await trip(stage, tab);
    await track(tab, ['back']);
    return [...TWENTY, 'back'];
  },
});

const isPrerendering = (tab: Tab): Promise<boolean> =>
  tab.evaluate(() => !!(document as { prerendering?: boolean }).prerendering);

/** A page that is prerendered by one without the tag, whose body this is; and what shows it. */
const prerender = async (stage: Stage, body = '') => {
  const { page, tagged, open, tab } = undriven(stage);
  const address = tagged('to-come');
  const rules = { prerender: [{ urls: [address], eagerness: 'immediate' }] };
  const script = `<script type="speculationrules">${JSON.stringify(rules)}</script>`;
  const shown = await open(page('shown', body + script));
  const toCome = await tab(address);
  await waitFor('a prerendered page', () => isPrerendering(toCome));
  const show = async () => {
    await shown.leave((address) => void (location.href = address), address);
    await waitFor('its being shown', async () => !(await isPrerendering(toCome)));
  };
  return { toCome, show, tagged };
};

/** A request of another library that takes most of the browser's budget for keepalive and keeps it. */
const useBudgetUp = async (tab: Tab, stage: Stage): Promise<void> => {
  stage.site.handle('/other-library/', () => undefined);
  await tab.evaluate(() => {
    const body = 'x'.repeat(64_000);
    fetch('/other-library/', { method: 'POST', keepalive: true, body }).catch(() => undefined);
  });
  await waitFor('the request', () => stage.site.requests.includes('POST /other-library/'));
};

export const pageRows: readonly Row[] = [
  {
    id: 'budget-used',
    what: 'another library uses up the keepalive budget; the page stays',
    promised: allOnce,
    run: async (stage) => {
      const tab = await stage.visit();
      await useBudgetUp(tab, stage);
      await track(tab, TWENTY);
      return TWENTY;
    },
  },
  {
    id: 'budget-used-close',
    what: 'the same, and the tab closes in the task of the calls',
    promised: onceOrUnknown,
    run: async (stage) => {
      const tab = await stage.visitPopup();
      await useBudgetUp(tab, stage);
      await trackAndClose(tab, TWENTY);
      await stage.visit();
      return TWENTY;
    },
  },
  {
    id: 'bfcache-kept',
    what: 'a page that is idle, one that has delivered and one that is just sending come back from the back/forward cache, as one without the tag does',
    promised: { direct: onceOrUnknown, relay: allOnce },
    nightly: ['relay'],
    run: async (stage) => {
      const without = await stage.newTab(stage.bare('/control'));
      await returnFromCache(without, () => without.goto(stage.bare()));
      const tab = await stage.visit();
      const go = () => tab.goto(stage.bare());
      await waitForStorage(tab);
      await returnFromCache(tab, go);
      await track(tab, ['delivered']);
      await waitFor('it', async () => (await stage.service.events()).length === 1);
      await returnFromCache(tab, go);
      await returnFromCache(tab, () => trackAndGo(tab, TWENTY, stage.bare()));
      return ['delivered', ...TWENTY];
    },
  },
  {
    id: 'bfcache-trips',
    what: 'five quick trips away and back, each while the page still writes; its database stays in use',
    promised: allOnce,
    run: async (stage) => {
      const tab = await stage.visit();
      const trips = names(5, 'trip');
      for (const trip of trips) {
        await track(tab, [trip]);
        await returnFromCache(tab, () => tab.goto(stage.bare()));
      }
      await track(tab, ['last']);
      await waitFor('all', async () => (await stage.service.events()).length === 6);
      await pause(LONGER_THAN_WATCHDOG_MS);
      if ((await heard(tab, 'storage')).some(({ storage }) => storage === 'memory'))
        throw new Error('It took its database for broken');
      await waitForStorage(tab);
      return [...trips, 'last'];
    },
  },
  returning(
    {
      id: 'bfcache-waiting',
      what: 'restored from the back/forward cache with records waiting',
      promised: { direct: allOnce, relay: allOnce },
      nightly: ['relay'],
      except: {
        webkit: {
          promised: onceOrWaiting,
          because:
            'it tells a page that came back that what the page wrote to IndexedDB as it went is stored, which it is not, so the records wait until their time is over',
        },
      },
    },
    async (stage, tab) => {
      await trackRefused(stage, tab, TWENTY);
      await returnFromCache(tab, () => tab.goto(stage.bare()));
    },
  ),
  returning(
    {
      id: 'bfcache-claimed',
      what: 'the same, after another tab has taken the records over',
      promised: { direct: allOnce, relay: allOnce },
      nightly: ['relay'],
    },
    async (stage, tab) => {
      await trackRefused(stage, tab, TWENTY);
      const takeOver = async () => {
        await stage.visit();
        const isTaken = async () => (await stage.service.events()).length === 20;
        await waitFor('the takeover', isTaken);
      };
      await returnFromCache(tab, () => tab.goto(stage.bare()), takeOver);
    },
  ),
  ...[20, 800].map((delay) =>
    returning(
      {
        id: `bfcache-handed-off-${delay}`,
        what: `the page is left in the task of the calls, which are answered after ${delay} ms, and restored from the back/forward cache`,
        promised: { direct: onceOrUnknown, relay: allOnce },
        // The answer comes while the page is away, and Firefox never tells the page of it.
        ...(delay === 20 ? { isSmoke: true } : { nightly: ['relay'] }),
      },
      async (stage, tab) => {
        await stage.faults([{ delay }]);
        await returnFromCache(tab, () => trackAndGo(tab, TWENTY, stage.bare()));
      },
    ),
  ),
  returning(
    {
      id: 'bfcache-in-flight',
      what: 'restored from the back/forward cache with requests under way since before',
      promised: onceOrUnknown,
    },
    async (stage, tab) => {
      await stage.faults([{ delay: 800 }]);
      await track(tab, TWENTY);
      await waitFor('a request', async () => (await statusOf(tab)).inFlight > 0);
      await returnFromCache(tab, () => tab.goto(stage.bare()));
    },
  ),
  {
    id: 'clock-changed',
    what: 'the clock is set an hour ahead, then two hours back, with records waiting',
    promised: allOnce,
    // Each time the clock is set, the page takes its own lease for over. It can claim its records again once that has
    // ended, up to 60 s later.
    within: 90_000,
    run: async (stage) => {
      stage.guest.allowGlobals('shift');
      const clock = 'const { now } = Date; Date.now = () => now() + shift;';
      const head = `<script>var shift = 0; { ${clock} }</script>`;
      const tab = await stage.visit({}, { head });
      const setClock = (ms: number) =>
        tab.evaluate((ms) => void ((window as unknown as { shift: number }).shift = ms), ms);
      // What is under way as its lease is taken for over counts as unknown, and this page tells nobody.
      await trackRefused(stage, tab, names(10, 'before'));
      await setClock(3_600_000);
      await track(tab, names(10, 'ahead'));
      await waitFor('some', async () => (await stage.service.events()).length > 0);
      await waitFor('the answers', async () => (await statusOf(tab)).inFlight === 0);
      await setClock(-3_600_000);
      await track(tab, names(10, 'behind'));
      await trackAndGo(tab, names(10, 'leaving'), stage.bare());
      await stage.visit();
      return ['before', 'ahead', 'behind', 'leaving'].flatMap((when) => names(10, when));
    },
  },
  {
    id: 'throttled',
    what: 'timers run once in a second, as in a tab in the background',
    promised: allOnce,
    within: 90_000,
    run: async (stage) => {
      stage.arm(() => {
        const { setTimeout: late } = window;
        const aligned = (ms = 0) =>
          Math.ceil((performance.now() + ms) / 1_000) * 1_000 - performance.now();
        window.setTimeout = ((run: () => void, ms?: number) =>
          late(run, aligned(ms))) as typeof setTimeout;
        const { scheduler } = window as unknown as { scheduler?: { postTask?: unknown } };
        if (scheduler) scheduler.postTask = undefined;
        // WebKit has none.
        if ('requestIdleCallback' in window)
          window.requestIdleCallback = ((run: () => void) => late(run, aligned())) as never;
      });
      const tab = await stage.visit();
      await stage.service.faults([{ status: 503, times: 3 }]);
      await track(tab, TWENTY);
      await waitFor('some', async () => (await stage.service.events()).length > 0, 60_000);
      return TWENTY;
    },
  },
  {
    id: 'prerender',
    what: 'a prerendered page calls; it sends nothing before it is shown, and then all',
    promised: allOnce,
    except: { firefox: NOTHING_TO_PRERENDER, webkit: NOTHING_TO_PRERENDER },
    needs: { forgetsPages: true },
    nightly: true,
    run: async (stage) => {
      const { toCome, show } = await prerender(stage);
      await track(toCome, TWENTY);
      const before = await toCome.evaluate(async () => {
        const { delivered, waiting } = await analytics.flush();
        const stored = [...(await indexedDB.databases()), ...Object.keys(localStorage)];
        return { delivered, waiting, stored: stored.length };
      });
      const isQuiet = before.delivered === 0 && before.waiting === 20 && before.stored === 0;
      if (!isQuiet || (await stage.service.requests()).length > 0) {
        throw new Error(`Before it was shown: ${JSON.stringify(before)}`);
      }
      await show();
      stage.tabs.push(toCome);
      return TWENTY;
    },
  },
  {
    id: 'prerender-kept',
    what: 'a page is prerendered and shown in a tab that keeps a call of a page that was left before its file came; then the next page',
    promised: allOnce,
    except: { firefox: NOTHING_TO_PRERENDER, webkit: NOTHING_TO_PRERENDER },
    needs: { forgetsPages: true },
    nightly: true,
    run: async (stage) => {
      // As a stub keeps it. The prerendered page gets a copy.
      const kept = `<script>{
        const at = Date.now();
        const calls = [[at, 'event', ['kept'], null, 'Left', '/left']];
        sessionStorage[at + 'analytics${PROJECT}'] = JSON.stringify(calls);
      }</script>`;
      const { toCome, show, tagged } = await prerender(stage, kept);
      await track(toCome, ['prerendered']); // its file has come
      await show();
      await toCome.goto(tagged('next'));
      await track(toCome, ['next']);
      stage.tabs.push(toCome);
      return ['kept', 'prerendered', 'next'];
    },
  },
  {
    id: 'stopped-worker',
    what: '20 calls and the closing of the tab, under a service worker that has stopped and has a fetch handler',
    promised: onceOrUnknown,
    needs: { canStopWorkers: true },
    except: { webkit: { because: 'nothing stops a service worker there on demand' } },
    run: async (stage) => {
      stage.site.file(
        '/worker.js',
        `addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));
        addEventListener('activate', (event) => event.waitUntil(clients.claim()));`,
      );
      const opener = await stage.newTab(stage.bare());
      await opener.evaluate(async () => {
        await navigator.serviceWorker.register('/worker.js');
        await navigator.serviceWorker.ready;
      });
      const tab = await stage.visitPopup();
      await waitFor('control', () => tab.evaluate(() => !!navigator.serviceWorker.controller));
      await waitForStorage(tab);
      await stage.browser.stopWorkers();
      await trackAndClose(tab, TWENTY);
      await stage.nextVisit();
      return TWENTY;
    },
  },
  {
    id: 'discarded',
    what: 'the browser discards a tab with records waiting',
    promised: onceOrUnknown,
    except: {
      firefox: { because: 'it discards only for want of memory, or by an extension' },
      webkit: { because: 'it has no discarding' },
    },
    needs: { forgetsPages: true },
    run: async (stage) => {
      const { page, tagged, open } = undriven(stage);
      const tab = await open(tagged('left'));
      await stage.service.stop();
      await track(tab, TWENTY);
      await waitUntilStored(tab, 20);
      const other = await tab.popup(page('discards-others'));
      await waitFor('the discarding', () => tab.isClosed());
      await stage.service.start();
      await other.goto(tagged('next', {}, LATER));
      stage.tabs.push(other);
      return TWENTY;
    },
  },
];
