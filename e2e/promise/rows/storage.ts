import { breakages } from '../../support/break-storage.js';
import { names } from '../../support/names.js';
import { statusOf } from '../../support/status-of.js';
import { track } from '../../support/track.js';
import type { Tab } from '../engines/engine.js';
import type { Row } from '../row.js';
import { trackAndGo, trackRefused, TWENTY, waitFor, waitUntilStored } from '../steps.js';
import { allOnce, atLeastOnce } from '../verdicts.js';

/** Runs with IndexedDB broken in a way, and leaves a page with records waiting. */
const broken = (how: keyof typeof breakages): Row => ({
  id: `idb-${how.replace(/[^a-z]+/gi, '-')}`,
  what: `IndexedDB ${how}`,
  promised: allOnce,
  ...(how !== 'never completes' && { nightly: true }),
  run: async (stage) => {
    stage.arm(breakages[how]);
    const tab = await stage.visit();
    await track(tab, TWENTY);
    await waitFor('work from memory', async () => (await statusOf(tab)).storage === 'memory');
    await trackAndGo(tab, names(20, 'leaving'), stage.bare());
    await stage.visit();
    return [...TWENTY, ...names(20, 'leaving')];
  },
});

const clearSiteData = async (tab: Tab): Promise<void> => {
  await tab.evaluate(async () => {
    localStorage.clear();
    for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name!);
    await fetch('/cleared', { cache: 'no-store' });
  });
};

const OPENED = 'analytics-outbox.opened';

/** Keeps the database that the page opens. It stands alone, for the start of a page. */
const keepOpened = (key: string): void => {
  const { open } = IDBFactory.prototype;
  IDBFactory.prototype.open = function (...args) {
    const request = open.apply(this, args);
    request.addEventListener('success', () => {
      Object.defineProperty(window, Symbol.for(key), { value: request.result, writable: true });
    });
    return request;
  };
};

export const storageRows: readonly Row[] = [
  ...(Object.keys(breakages) as (keyof typeof breakages)[]).map(broken),
  {
    id: 'storage-closed',
    what: 'the connection to the database is closed with records waiting; more calls, then the page is left',
    promised: allOnce,
    run: async (stage) => {
      stage.arm(keepOpened, OPENED);
      const tab = await stage.visit();
      await trackRefused(stage, tab, names(10, 'before'));
      await waitUntilStored(tab, 10);
      await tab.evaluate((key) => {
        (window as unknown as Record<symbol, IDBDatabase>)[Symbol.for(key)]!.close();
      }, OPENED);
      await trackAndGo(tab, names(10, 'after'), stage.bare());
      await stage.visit();
      return [...names(10, 'before'), ...names(10, 'after')];
    },
  },
  {
    id: 'storage-cleared',
    what: 'the site’s storage is cleared while a page uses it (by script, and by `Clear-Site-Data`)',
    promised: allOnce,
    run: async (stage) => {
      // What Chromium says of that header.
      stage.guest.allow(/Clear-Site-Data header on/);
      stage.site.page('/cleared', 'cleared', { 'clear-site-data': '"storage"' });
      const tab = await stage.visit();
      await stage.service.faults([{ status: 503, headers: { 'retry-after': '3' }, times: 1 }]);
      await track(tab, names(10, 'before'));
      await waitFor('a penalty', async () => (await statusOf(tab)).paused === 'backoff');
      await clearSiteData(tab);
      await track(tab, names(10, 'after'));
      return [...names(10, 'before'), ...names(10, 'after')];
    },
  },
  {
    id: 'private-mode',
    what: 'a private window: offline, then the next page',
    promised: allOnce,
    except: {
      firefox: {
        promised: atLeastOnce,
        because:
          'in a private window it breaks requests off before the page hears that it is left, so they are sent again, and some have arrived',
      },
    },
    needs: { isPrivate: true },
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.offline(true);
      await track(tab, TWENTY);
      await waitFor('the outbox', async () => (await statusOf(tab)).storage !== 'opening');
      await stage.offline(false);
      await trackAndGo(tab, names(20, 'leaving'), stage.bare());
      // In the same tab: Chromium may open another one outside the private window.
      await tab.goto(stage.page('/next', stage.tagged()));
      return [...TWENTY, ...names(20, 'leaving')];
    },
  },
];
