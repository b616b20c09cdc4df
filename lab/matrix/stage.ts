import { createGuest } from '../../e2e/support/guest.js';
import { guestScript, NAMES_AT_START, REJECTION_MARK } from '../../e2e/support/guest-script.js';
import { listening } from '../../e2e/support/heard.js';
import { later } from '../../e2e/support/later.js';
import { createService } from '../../e2e/support/service.js';
import { createSite } from '../../e2e/support/site.js';
import { taggedPage, type TagStyle } from '../../e2e/support/tagged.js';
import { makeTempFolder, removeTempFolder } from '../../e2e/support/temp-folder.js';
import { until } from '../../e2e/support/until.js';
import type { BrowserNeeds, Engine, Tab } from './engine.js';
import { watchTasks } from './own-tasks.js';

export const SETUP = { project: 'p', channel: 'c' };

const BARE = '<!doctype html><html lang="en"><head><title>bare</title></head><body></body></html>';

export type Stage = Awaited<ReturnType<typeof createStage>>;

const REMOVED_WITHIN_MS = 10_000;

type Options = Record<string, unknown>;

/** All that one run of a row stands on: a service, a website, a browser, and eyes on its pages. */
export const createStage = async (engine: Engine, needs: BrowserNeeds = {}) => {
  const [database, folder] = [makeTempFolder(), makeTempFolder()];
  const guest = createGuest();
  // Firefox tells of a request that failed as of an error of the page.
  guest.allow(
    /^page error: (The Same Origin Policy disallows|Cross-Origin Request Blocked|The page’s settings blocked)/,
  );
  const service = await createService(database);
  const site = await createSite();
  const armed: string[] = [
    sourceOf(guestScript, { key: NAMES_AT_START, mark: REJECTION_MARK }),
    sourceOf(watchTasks, undefined),
  ];
  const tabs: Tab[] = [];

  /** Puts a page there with what every page of this run begins with. */
  const page = (path: string, html: string): string => {
    const head = `<head><link rel="icon" href="data:,">${engine.head}<script>${armed.join(';\n')}</script>`;
    return site.page(
      path,
      html.replace('<head>', () => head),
    );
  };
  const bare = (path = '/bare') => page(path, BARE);
  bare();
  const baseUrl = needs.host ? `http://${needs.host}:${service.port}` : service.url;
  const browser = await engine.open({ ...needs, folder, guest, site, baseUrl });

  const tagged = (options: Options = {}, style: TagStyle = {}): string =>
    taggedPage(
      { baseUrl, token: service.token, ...SETUP, ...options },
      { ...listening, ...style, body: `${listening.body}${style.body ?? ''}` },
    );
  const newTab = async (address: string): Promise<Tab> => {
    const tab = await browser.newTab();
    tabs.push(tab);
    await tab.goto(address);
    return tab;
  };
  let pages = 0;
  const visit = (options?: Options, style?: TagStyle) =>
    newTab(page(`/page-${pages++}`, tagged(options, style)));

  return {
    engine,
    service,
    site,
    guest,
    browser,
    baseUrl,
    /** Every page that was opened. */
    tabs,
    page,
    /** Address of a page without the tag. */
    bare,
    tagged,
    /** Runs in each document to come, before its own scripts. It stands alone. */
    arm: <Arg>(run: (arg: Arg) => void, arg?: Arg): void => {
      armed.push(sourceOf(run as (arg: unknown) => void, arg));
      bare();
    },
    newTab,
    /** A tab on a page with the tag. */
    visit,
    /** The same, two minutes later by its clock: the time of what pages held that died just now is over. */
    nextVisit: (options: Options = {}) => {
      const ahead = later(guest);
      return visit({ ...ahead.options, ...options }, { head: ahead.head });
    },
    /** Takes the network away, or gives it back. */
    offline: async (is: boolean): Promise<void> => {
      // Where an engine can only make pages believe it, the service is really gone.
      if (engine.name !== 'webkit') return browser.offline(is);
      if (!is) await service.start();
      await browser.offline(is);
      if (is) await service.stop();
    },
    /** Opens a page with the tag from a bare one, so that it may close itself. */
    visitPopup: async (options?: Options, style?: TagStyle): Promise<Tab> => {
      const opener = await newTab(bare());
      const popup = await opener.popup(page(`/page-${pages++}`, tagged(options, style)));
      tabs.push(popup);
      return popup;
    },
    dispose: async (): Promise<void> => {
      await browser.dispose();
      await service.start();
      await service.clear().catch(() => undefined);
      await service.stop();
      await site.close();
      removeTempFolder(database);
      // What was killed may still write for a moment.
      await until(() => isRemoved(folder), { within: REMOVED_WITHIN_MS });
    },
  };
};

const isRemoved = (folder: string): boolean => {
  try {
    removeTempFolder(folder);
    return true;
  } catch {
    return false;
  }
};

const sourceOf = <Arg>(run: (arg: Arg) => void, arg: Arg): string =>
  `(${String(run)})(${JSON.stringify(arg) ?? ''})`.replaceAll('</', '<\\/');
