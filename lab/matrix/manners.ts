import { until } from '../../e2e/support/until.js';
import { newGlobals } from '../../e2e/support/new-globals.js';
import type { Tab } from './engine.js';
import { TASKS } from './own-tasks.js';
import type { Stage } from './stage.js';

const LONG_TASK_MS = 50;
const BACK_WITHIN_MS = 8_000;
const OURS = 'analytics-outbox';

/** How the snippet behaved in the pages of a run. */
export interface Manners {
  /** What a guest does not do, in words. */
  problems: string[];
  /** Milliseconds of its runs that held up a frame for 50 ms or more; undefined where no browser tells. */
  longTasks: number[] | undefined;
  /** Whether the last page came back from the back/forward cache; undefined where there was none to try. */
  isCached: boolean | undefined;
  /** The same of a page without the tag, right after: what the browser does by itself. */
  isBareCached: boolean | undefined;
}

/** Looks at the open pages of a run, at what its browser asked for, and goes forth and back in the last page. */
export const inspectManners = async (
  stage: Stage,
  { goesBack = true }: { goesBack?: boolean } = {},
): Promise<Manners> => {
  const { guest, browser } = stage;
  const open = stage.tabs.filter((tab) => !tab.isClosed());
  const tasks: number[] = [];
  let isToldOfTasks = false;
  for (const tab of open) {
    const address = await addressOf(tab);
    // An empty page has no storage to look at.
    if (address.startsWith('about:')) continue;
    guest.inspectNames(await newGlobals(tab), address);
    for (const key of await foreignKeys(tab)) guest.report(`a foreign storage key: ${key}`);
    const own = await ownTasks(tab);
    if (own) isToldOfTasks = true;
    tasks.push(...(own ?? []));
  }
  for (const address of new Set(browser.requests)) {
    if (!isExpected(address, stage)) guest.report(`a request to ${address}`);
  }
  const last = goesBack ? open.at(-1) : undefined;
  const isCached = last ? await comesBackFromCache(last, stage) : undefined;
  if (last) await last.goto(stage.bare('/bare-too'));
  const isBareCached = last ? await comesBackFromCache(last, stage) : undefined;
  return {
    problems: guest.problems(),
    longTasks: isToldOfTasks ? tasks.filter((task) => task >= LONG_TASK_MS) : undefined,
    isCached,
    isBareCached,
  };
};

const addressOf = (tab: Tab) => tab.evaluate(() => location.href);

/** Keys and databases that do not bear our name. */
const foreignKeys = (tab: Tab): Promise<string[]> =>
  tab.evaluate(async (ours) => {
    const listDatabases = async () => {
      try {
        return await indexedDB.databases();
      } catch {
        return []; // broken on purpose by the row
      }
    };
    const names = (await listDatabases()).map(({ name }) => `indexedDB ${name}`);
    const keysOf = (storage: Storage, kind: string) =>
      Object.keys(storage).map((key) => `${kind} ${key}`);
    return [
      ...names,
      ...keysOf(localStorage, 'localStorage'),
      ...keysOf(sessionStorage, 'sessionStorage'),
    ].filter((name) => !name.split(' ')[1]!.startsWith(ours));
  }, OURS);

const ownTasks = (tab: Tab): Promise<number[] | undefined> =>
  tab.evaluate(
    (key) => (window as unknown as Record<symbol, number[] | undefined>)[Symbol.for(key)],
    TASKS,
  );

const isExpected = (address: string, { site, baseUrl }: Stage): boolean =>
  [`${site.url}/`, `${site.otherUrl}/`, `${baseUrl}/v1/`, 'about:', 'data:'].some((start) =>
    address.startsWith(start),
  );

/** Leaves for a bare page and goes back: a page from the cache still knows what it was told before. */
const comesBackFromCache = async (tab: Tab, stage: Stage): Promise<boolean | undefined> => {
  const key = `${OURS}.was-here`;
  const before = await tab.evaluate((key) => {
    Object.defineProperty(window, Symbol.for(key), { value: true });
    return location.href;
  }, key);
  await tab.goto(stage.bare());
  await tab.leave(() => void setTimeout(() => history.back(), 0), undefined);
  const isBack = await until(async () => (await addressOf(tab).catch(() => '')) === before, {
    within: BACK_WITHIN_MS,
  });
  if (!isBack) return undefined;
  return tab.evaluate(
    (key) => (window as unknown as Record<symbol, unknown>)[Symbol.for(key)] === true,
    key,
  );
};
