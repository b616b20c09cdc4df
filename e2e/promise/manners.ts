import { newGlobals } from '../support/new-globals.js';
import type { Tab } from './engines/engine.js';
import type { Stage } from './stage.js';

const OURS = 'analytics-outbox';

/** Looks at the open pages of a run, and at what its browser asked for. */
export const inspectManners = async (stage: Stage): Promise<void> => {
  const { guest, browser, site, baseUrl } = stage;
  for (const tab of stage.tabs.filter((tab) => !tab.isClosed())) {
    const address = await tab.evaluate(() => location.href);
    // An empty page has no storage to look at.
    if (address.startsWith('about:')) continue;
    guest.inspectNames(await newGlobals(tab), address);
    for (const name of await storedNames(tab)) {
      if (!name.split(' ')[1]!.startsWith(OURS))
        guest.report(`stored under a foreign name: ${name}`);
    }
  }
  const expected = [`${site.url}/`, `${site.otherUrl}/`, `${baseUrl}/v1/`, 'about:', 'data:'];
  for (const address of new Set(browser.requests)) {
    if (!expected.some((start) => address.startsWith(start)))
      guest.report(`a request to ${address}`);
  }
};

/** Every database and key of the page's site, each after its kind. */
const storedNames = (tab: Tab): Promise<string[]> =>
  tab.evaluate(async () => {
    const listDatabases = async () => {
      try {
        return await indexedDB.databases();
      } catch {
        return []; // broken on purpose by the row
      }
    };
    return [
      ...(await listDatabases()).map(({ name }) => `indexedDB ${name}`),
      ...Object.keys(localStorage).map((key) => `localStorage ${key}`),
      ...Object.keys(sessionStorage).map((key) => `sessionStorage ${key}`),
    ];
  });
