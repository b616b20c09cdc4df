import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type {
  Browser as Launched,
  BrowserContext,
  BrowserType,
  LaunchOptions,
  Page,
} from '@playwright/test';
import { chromium, firefox } from 'playwright';
import { measureInChromium, startUndriven, stopChromiumWorkers } from './chromium-only.js';
import { killBrowser, killParts, stopParts } from '../../e2e/support/browser-process.js';
import { untilDone } from '../../e2e/support/until.js';
import { limited } from './limited.js';
import type { Browser, Engine, Ground, Tab } from './engine.js';

interface Kind {
  name: 'chromium' | 'firefox';
  type: BrowserType;
  options: LaunchOptions;
  /** Command lines of the processes that run pages. */
  pages: RegExp;
  /** Options for a private window on a profile. */
  privacy: LaunchOptions;
  /** Options for a browser whose service workers can be stopped, and what stops them. */
  workers: LaunchOptions;
  stopWorkers: (context: BrowserContext) => Promise<void>;
  /** Options that let a host resolve to this machine, or say that there is none. */
  resolve: (host: string, isKnown: boolean) => LaunchOptions;
}

const GONE_WITHIN_MS = 15_000;
const NEW_PAGE_MS = 3_000;
/** A process of Firefox that runs pages of one site. Those without one yet, for tabs to come, have another name. */
const FIREFOX_SITE = 'Isolated Web Co';
const FIREFOX_IDLE_MS = 100;

/** Chromium's own, but for the back/forward cache, which Playwright switches off. */
export const chromiumKind = (executablePath: string): Kind => ({
  name: 'chromium',
  type: chromium,
  options: { executablePath, ignoreDefaultArgs: ['--disable-back-forward-cache'] },
  pages: /--type=renderer/,
  privacy: { args: ['--incognito'] },
  workers: {},
  stopWorkers: stopChromiumWorkers,
  resolve: (host, isKnown) => ({
    args: [`--host-resolver-rules=MAP ${host} ${isKnown ? '127.0.0.1' : '~NOTFOUND'}`],
  }),
});

export const firefoxKind = (executablePath: string): Kind => ({
  name: 'firefox',
  type: firefox,
  options: { channel: 'moz-firefox', executablePath },
  pages: /-contentproc.* tab\s*$/,
  privacy: { firefoxUserPrefs: { 'browser.privatebrowsing.autostart': true } },
  workers: {
    firefoxUserPrefs: {
      'dom.serviceWorkers.idle_timeout': FIREFOX_IDLE_MS,
      'dom.serviceWorkers.idle_extended_timeout': FIREFOX_IDLE_MS,
    },
  },
  // It stops by itself.
  stopWorkers: () => pause(10 * FIREFOX_IDLE_MS),
  resolve: (host, isKnown) => ({
    firefoxUserPrefs: { 'network.dns.localDomains': isKnown ? host : '' },
  }),
});

const createTab = (page: Page, isDead: () => boolean): Tab => ({
  evaluate: page.evaluate.bind(page),
  goto: async (address) => {
    await page.goto(address);
  },
  leave: async (run, arg) => {
    await page.evaluate(run as never, arg as never).catch(() => undefined);
  },
  popup: async (address) => {
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate((address) => void window.open(address), address),
    ]);
    await popup.waitForLoadState();
    return createTab(popup, isDead);
  },
  close: async () => {
    const closed = page.waitForEvent('close', { timeout: GONE_WITHIN_MS });
    await Promise.all([closed, page.close({ runBeforeUnload: true })]);
  },
  isClosed: () => page.isClosed() || isDead(),
});

export const createPlaywrightEngine = async (kind: Kind): Promise<Engine> => {
  const { type, options, pages } = kind;
  const shared: Launched = await type.launch(options);

  const open = async (ground: Ground): Promise<Browser> => {
    const {
      folder,
      guest,
      durable,
      isPrivate,
      canStopWorkers,
      forgetsPages,
      host,
      isBlocked,
      baseUrl,
    } = ground;
    const requests: string[] = [];
    let context: BrowserContext | undefined;
    let isFresh = true;
    let starts = 0;
    let crashes = 0;
    let restartedAfter = 0;
    /** The profile of the one that is not driven, once it runs. */
    let undriven: string | undefined;

    const start = async () => {
      const more = [
        isPrivate ? kind.privacy : {},
        canStopWorkers ? kind.workers : {},
        forgetsPages ? { ignoreDefaultArgs: [] } : {},
        host ? kind.resolve(host, starts > 0) : {},
      ] satisfies LaunchOptions[];
      const own = Object.assign({}, options, ...more) as LaunchOptions;
      context =
        durable || isPrivate || canStopWorkers || forgetsPages || host
          ? await type.launchPersistentContext(folder, own)
          : await shared.newContext();
      isFresh = context.pages().length > 0;
      context.on('request', (request) => requests.push(request.url()));
      await guest.watch(context);
      if (isBlocked && starts === 0)
        await context.route(`${baseUrl}/**`, (route) => route.abort('blockedbyclient'));
      starts++;
    };
    const live = (): BrowserContext => {
      if (!context) throw new Error('The browser does not run');
      return context;
    };
    const isPersistent = () => live().browser() !== shared;
    const quit = async () => {
      const ended = context;
      context = undefined;
      await ended?.close();
    };

    const kill = async () => {
      const killed = live();
      const gone = killed.waitForEvent('close', { timeout: GONE_WITHIN_MS });
      gone.catch(() => undefined);
      try {
        killBrowser(folder);
        await gone;
      } catch {
        await killed.close().catch(() => undefined); // it has ended by itself
      }
      context = undefined;
    };
    // A killed browser lets go of its profile in a while.
    const restart = () => untilDone(start, { within: GONE_WITHIN_MS });

    const newLivePage = async (): Promise<Page> => {
      const page = await live().newPage();
      await page.evaluate(() => undefined);
      return page;
    };
    /** A blank one, in a process that lives: just after a kill, a browser may give it one that is dying. */
    const newPage = (): Promise<Page> =>
      crashes === 0
        ? live().newPage()
        : untilDone(() => limited('a new page', NEW_PAGE_MS, newLivePage()), {
            within: GONE_WITHIN_MS,
          });

    await start();
    return {
      newTab: async () => {
        // A driven Firefox does not survive its pages for long.
        if (kind.name === 'firefox' && crashes > restartedAfter) {
          restartedAfter = crashes;
          await kill();
          await restart();
        }
        const first = isFresh ? live().pages()[0] : undefined;
        isFresh = false;
        const born = crashes;
        const page = first ?? (await newPage());
        return createTab(page, () => crashes > born);
      },
      offline: (is) => live().setOffline(is),
      crashPages: async () => {
        if (!isPersistent()) throw new Error('Only in a browser of its own');
        // A new page may else be given to a process that is just dying.
        const ends = live()
          .pages()
          .map((page) => page.waitForEvent('crash', { timeout: GONE_WITHIN_MS }).catch(() => page));
        if (killParts(folder, pages) === 0) throw new Error('No process runs a page');
        isFresh = false;
        crashes++;
        if (kind.name === 'chromium') await Promise.all(ends);
      },
      ...(kind.name === 'firefox' && { stopPages: () => stopParts(folder, FIREFOX_SITE) }),
      ...(kind.name === 'chromium' && {
        openUndriven: (address: string) => {
          undriven = join(folder, 'undriven');
          startUndriven(options.executablePath!, undriven, address);
        },
      }),
      stopWorkers: () => kind.stopWorkers(live()),
      measure: async () => {
        if (kind.name !== 'chromium') throw new Error('Nothing tells these sizes');
        return measureInChromium(live().pages()[0]!);
      },
      quit,
      kill,
      start: restart,
      requests,
      dispose: () => {
        if (undriven) killBrowser(undriven);
        return quit().catch(() => undefined);
      },
    };
  };

  return {
    name: kind.name,
    version: shared.version(),
    head: '',
    notes: [],
    open,
    close: () => shared.close(),
  };
};
