import type { Status } from '../../src/client/types.js';
import type { Evaluates } from '../support/evaluates.js';
import { names } from '../support/names.js';
import { statusOf } from '../support/status-of.js';
import { storedEvents } from '../support/stored-records.js';
import { track } from '../support/track.js';
import { until } from '../support/until.js';
import type { Tab } from './engines/engine.js';
import type { Stage } from './stage.js';

const WITHIN_MS = 60_000;

/** What most rows call. */
export const TWENTY = names(20);

/** Waits for something, and says what did not come about. */
export const waitFor = async (
  what: string,
  isSo: () => boolean | Promise<boolean>,
  within = WITHIN_MS,
): Promise<void> => {
  if (!(await until(isSo, { within }))) throw new Error(`It did not come about: ${what}`);
};

/** Waits until nothing is sent for one of these reasons, and what was under way has ended. */
export const waitForPause = (tab: Evaluates, ...reasons: Status['paused'][]): Promise<void> =>
  waitFor(`the pause (${reasons.join()})`, async () => {
    const { paused, inFlight } = await statusOf(tab);
    return reasons.includes(paused) && inFlight === 0;
  });

/**
 * Calls these while nothing is accepted, until all of them wait for the end of a penalty; then all is well again.
 * Not by a number of refusals: how many requests go before the first of them is timing.
 */
export const trackRefused = async (
  { faults }: Pick<Stage, 'faults'>,
  tab: Evaluates,
  events: readonly string[],
  retryAfterS = 2,
): Promise<void> => {
  await faults([{ status: 503, headers: { 'retry-after': String(retryAfterS) } }]);
  await track(tab, events);
  await waitFor('a penalty', async () => {
    const { paused, waiting, inFlight } = await statusOf(tab);
    return paused === 'backoff' && waiting === events.length && inFlight === 0;
  });
  await faults([]);
};

export const waitForStorage = (tab: Evaluates): Promise<void> =>
  waitFor('the outbox', async () => (await statusOf(tab)).storage === 'indexeddb');

export const waitUntilStored = (tab: Evaluates, count: number): Promise<void> =>
  waitFor(`${count} records in the outbox`, async () => (await storedEvents(tab)).length === count);

/**
 * Waits on a page that is offline until so many records are stored, its first attempts have failed, and no request is
 * under way. The records of a request that is cut off as the page is left would count as unknown.
 */
export const waitAtRest = async (tab: Evaluates, count: number): Promise<void> => {
  await waitUntilStored(tab, count);
  await waitForPause(tab, 'offline', 'backoff', 'unreachable');
};

/** Waits until a tab has loaded the page at an address. */
export const waitForPage = (tab: Evaluates, address: string, within?: number): Promise<void> => {
  const isThere = async () => {
    const here = await tab.evaluate(() => [location.href, document.readyState]).catch(() => []);
    return here[0] === address && here[1] === 'complete';
  };
  return waitFor(`the page at ${address}`, isThere, within);
};

/** Calls `event` once a name and goes to another address, in one task. */
export const trackAndGo = async (
  tab: Tab,
  events: readonly string[],
  address: string,
): Promise<void> => {
  await tab.leave(
    ([events, address]) => {
      for (const event of events) analytics.event(event);
      location.href = address;
    },
    [events, address] as const,
  );
  await waitForPage(tab, address);
};

/** Calls `event` once a name and closes the tab, in one task. */
export const trackAndClose = async (tab: Tab, events: readonly string[]): Promise<void> => {
  await tab.leave((events) => {
    for (const event of events) analytics.event(event);
    window.close();
  }, events);
  await waitFor('the closing of the tab', () => tab.isClosed());
};

/**
 * Waits until so many records that a page handed off as it went have arrived, before a later page can make good what
 * has not. In WebKit one of twenty such requests does not arrive.
 */
export const waitForHandoff = async (stage: Stage, count: number): Promise<void> => {
  if (stage.engine.name === 'webkit') return;
  const arrived = async () => (await stage.service.events()).length >= count;
  await waitFor(`${count} records that were handed off`, arrived);
};

const MARK = 'analytics-outbox.was-here';

/** Goes to a page without the tag and back, and fails if the page does not come back from the back/forward cache. */
export const returnFromCache = async (
  tab: Tab,
  go: () => Promise<void>,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<void> => {
  // A page that is loaded anew does not know what it was told before.
  const address = await tab.evaluate((mark) => {
    Object.defineProperty(window, Symbol.for(mark), { value: true });
    return location.href;
  }, MARK);
  await go();
  await meanwhile();
  await tab.leave(() => void setTimeout(() => history.back(), 0), undefined);
  await waitFor(`the page at ${address}`, async () => {
    return (await tab.evaluate(() => location.href).catch(() => '')) === address;
  });
  const isKept = await tab.evaluate((mark) => Symbol.for(mark) in window, MARK);
  if (!isKept) throw new Error('It was loaded anew');
};
