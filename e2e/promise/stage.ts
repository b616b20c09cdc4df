import type { FaultRule } from '../../demo/server/fault-rules.js';
import type { Guest } from '../support/guest.js';
import { guestScript, NAMES_AT_START, REJECTION_MARK } from '../support/guest-script.js';
import { listening } from '../support/heard.js';
import { LATER } from '../support/later.js';
import type { Relay } from '../support/relay.js';
import type { Service } from '../support/service.js';
import type { Site } from '../support/site.js';
import type { TagStyle } from '../support/tagged.js';
import { makeTempFolder, removeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import type { BrowserNeeds, Engine, Tab } from './engines/engine.js';
import type { Way } from './row.js';

const BARE = '<!doctype html><html lang="en"><head><title>bare</title></head><body></body></html>';
const REMOVED_WITHIN_MS = 10_000;

type Options = Record<string, unknown>;

interface Parts {
  engine: Engine;
  needs: BrowserNeeds;
  way: Way;
  service: Service;
  site: Site & { tagged: (options?: Options, style?: TagStyle) => string };
  /** The relay, in the way that has one. */
  relay: Relay | undefined;
  guest: Guest;
}

export type Stage = Awaited<ReturnType<typeof createStage>>;

/** All that a row stands on: a service, a website, a browser of any engine, and its tabs. */
export const createStage = async ({ engine, needs, way, service, site, relay, guest }: Parts) => {
  const folder = makeTempFolder();
  const armed: string[] = [sourceOf(guestScript, { key: NAMES_AT_START, mark: REJECTION_MARK })];
  const tabs: Tab[] = [];
  // Firefox tells of a request that failed as of an error of the page.
  guest.allow(
    /^page error: (The Same Origin Policy disallows|Cross-Origin Request Blocked|The page’s settings blocked)/,
  );

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
  const browser = await engine.open({
    ...needs,
    folder,
    guest,
    site,
    baseUrl,
  });

  const setup: Options = {
    ...(needs.host && { baseUrl }),
    ...(way === 'key' && { idempotencyKey: true }),
  };
  const tagged = (options: Options = {}, style: TagStyle = {}): string =>
    site.tagged(
      { ...setup, ...options },
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

  /** What goes wrong where pages send to: at the relay if there is one, or else at the service. */
  const faults = async (rules: readonly FaultRule[]): Promise<void> => {
    if (!relay) return service.faults(rules);
    relay.faults(
      rules.map(({ match, headers, ...rule }) => ({
        ...rule,
        ...(match?.event && { event: match.event }),
        ...(headers && { headers: headers as Record<string, string> }),
      })),
    );
  };
  /** Nothing answers the requests of pages any more. */
  const cut = () => (relay ? faults([{ reset: true }]) : service.stop());
  const mend = () => (relay ? faults([]) : service.start());

  return {
    engine,
    way,
    service,
    site,
    guest,
    browser,
    baseUrl,
    faults,
    cut,
    mend,
    /** How many requests have come to where pages send to. */
    asked: async (): Promise<number> => (relay ? relay.asked() : service.asked()),
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
    nextVisit: (options: Options = {}) => visit(options, { head: LATER }),
    /** Takes the network away, or gives it back. */
    offline: async (is: boolean): Promise<void> => {
      // Where an engine can only make pages believe it, nothing really answers.
      if (engine.name !== 'webkit') return browser.offline(is);
      if (!is) await mend();
      await browser.offline(is);
      if (is) await cut();
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
