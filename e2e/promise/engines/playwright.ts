import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BrowserContext, BrowserType, LaunchOptions, Page } from '@playwright/test';
import { killBrowser, killParts, stopParts } from '../../support/browser-process.js';
import { untilDone } from '../../support/until.js';
import { startUndriven, stopChromiumWorkers } from './chromium-only.js';
import type { Browser, Engine, Ground, Tab } from './engine.js';

/** How a browser that Playwright drives is started, and where its parts are found. */
interface Kind {
  name: 'chromium' | 'firefox';
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

export const kindOf = (name: Kind['name'], options: LaunchOptions): Kind =>
  name === 'chromium'
    ? {
        name,
        // Chromium's own, but for the back/forward cache, which Playwright switches off.
        options: { ...options, ignoreDefaultArgs: ['--disable-back-forward-cache'] },
        pages: /--type=renderer/,
        privacy: { args: ['--incognito'] },
        workers: {},
        stopWorkers: stopChromiumWorkers,
        resolve: (host, isKnown) => ({
          args: [`--host-resolver-rules=MAP ${host} ${isKnown ? '127.0.0.1' : '~NOTFOUND'}`],
        }),
      }
    : {
        name,
        options,
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
      };

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
  isClosed: () => page.isClosed() || isDead(),
});

/** Fails when a page does not answer: a browser may give a new one to a process that is just dying. */
const answers = async (page: Page): Promise<Page> => {
  const late = pause(NEW_PAGE_MS, undefined, { ref: false }).then(() => {
    throw new Error('The new page does not answer');
  });
  await Promise.race([page.evaluate(() => undefined), late]);
  return page;
};

export const createPlaywrightEngine = async (type: BrowserType, kind: Kind): Promise<Engine> => {
  const shared = await type.launch(kind.options);

  const open = async (ground: Ground): Promise<Browser> => {
    const { folder, guest, isPrivate, canStopWorkers, forgetsPages, host } = ground;
    const hasProfile = ground.durable || isPrivate || canStopWorkers || forgetsPages || host;
    const requests: string[] = [];
    let context: BrowserContext | undefined;
    let isFresh = true;
    let starts = 0;
    let crashes = 0;
    let restartedAfter = 0;
    /** The profile of the one that is not driven, once it runs. */
    let undriven: string | undefined;

    const optionsOfStart = (): LaunchOptions => {
      const { args = [], ...more } = {
        ...(isPrivate && kind.privacy),
        ...(canStopWorkers && kind.workers),
        ...(host && kind.resolve(host, starts > 0)),
        ...(forgetsPages && { ignoreDefaultArgs: [] }),
      };
      return { ...kind.options, ...more, args: [...(kind.options.args ?? []), ...args] };
    };
    const start = async () => {
      context = hasProfile
        ? await type.launchPersistentContext(folder, optionsOfStart())
        : await shared.newContext();
      isFresh = context.pages().length > 0;
      context.on('request', (request) => requests.push(request.url()));
      await guest.watch(context);
      if (ground.isBlocked && starts === 0)
        await context.route(`${ground.baseUrl}/**`, (route) => route.abort('blockedbyclient'));
      starts++;
    };
    const live = (): BrowserContext => {
      if (!context) throw new Error('The browser does not run');
      return context;
    };
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

    /** A blank one, in a process that lives. */
    const newPage = (): Promise<Page> =>
      crashes === 0
        ? live().newPage()
        : untilDone(async () => answers(await live().newPage()), { within: GONE_WITHIN_MS });

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
        if (!hasProfile) throw new Error('Only in a browser of its own');
        // A new page may else be given to a process that is just dying.
        const ends = live()
          .pages()
          .map((page) => page.waitForEvent('crash', { timeout: GONE_WITHIN_MS }).catch(() => page));
        if (killParts(folder, kind.pages) === 0) throw new Error('No process runs a page');
        isFresh = false;
        crashes++;
        if (kind.name === 'chromium') await Promise.all(ends);
      },
      ...(kind.name === 'firefox' && { stopPages: () => stopParts(folder, FIREFOX_SITE) }),
      ...(kind.name === 'chromium' && {
        openUndriven: (address: string) => {
          undriven = join(folder, 'undriven');
          startUndriven(kind.options.executablePath!, undriven, address);
        },
      }),
      stopWorkers: () => kind.stopWorkers(live()),
      quit,
      kill,
      start: restart,
      requests,
      dispose: async () => {
        if (undriven) killBrowser(undriven);
        await quit().catch(() => undefined);
      },
    };
  };

  return {
    name: kind.name,
    version: shared.version(),
    head: '',
    open,
    close: () => shared.close(),
  };
};
