import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { killBrowser, killParts, stopParts } from '../../support/browser-process.js';
import { until } from '../../support/until.js';
import { AGENT_HEAD, createAgentHub, createAgentTab } from './agent.js';
import type { Browser, Engine, Ground, Tab } from './engine.js';

const GONE_WITHIN_MS = 10_000;
const LIBRARIES = '/usr/lib';
/** What a process that runs pages calls itself; the system cuts it off. */
const WEB_PROCESS = 'WebKitWebProces';

/** Lines the browser prints that no page can avoid, its own, and what a developer is told on a local host. */
const NOISE =
  /CONSOLE (NETWORK|SECURITY) |due to access control checks|content blocker|WARN analytics-outbox: (?!window\.)/;

/** MiniBrowser of WebKitGTK, by `MINIBROWSER_PATH` or where Debian puts it. */
export const findMiniBrowser = (): string | undefined => {
  const given = process.env.MINIBROWSER_PATH;
  if (given) return given;
  for (const architecture of existsSync(LIBRARIES) ? readdirSync(LIBRARIES) : []) {
    const path = join(LIBRARIES, architecture, 'webkit2gtk-4.1/MiniBrowser');
    if (existsSync(path)) return path;
  }
  return undefined;
};

/** A screen that nobody sees. */
const startScreen = async () => {
  const server = spawn(
    'Xvfb',
    ['-displayfd', '1', '-screen', '0', '1024x768x24', '-nolisten', 'tcp'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const number = await new Promise<string>((resolve, reject) => {
    server.once('error', reject);
    server.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()));
  });
  return { display: `:${number}`, stop: () => void server.kill() };
};

const ARGUMENTS = [
  '--enable-write-console-messages-to-stdout=true',
  '--javascript-can-open-windows-automatically=true',
  '--enable-page-cache=true',
];

/**
 * MiniBrowser without a driver: one that drives it forgets its storage as it ends. Its pages carry a script
 * that asks the site what to do.
 */
export const createWebkitEngine = async (): Promise<Engine> => {
  const program = findMiniBrowser();
  if (!program)
    throw new Error('There is no WebKitGTK (Debian: `apt-get install webkit2gtk-driver xvfb`)');
  const screen = await startScreen();
  const version = execFileSync(program, ['--version'], {
    encoding: 'utf8',
    env: { ...process.env, DISPLAY: screen.display },
  })
    .replace(/^\D+/, '')
    .trim();

  const open = async (ground: Ground): Promise<Browser> => {
    const { folder, guest, site, isPrivate, isBlocked, apart, baseUrl } = ground;
    const hub = createAgentHub(site);
    const home = `${site.url}/bare`;
    const tabs: Tab[] = [];
    let running: ChildProcess | undefined;
    let count = 0;
    let hasCrashed = false;
    let starts = 0;
    /** Tabs that came with the browser and are not in use yet. */
    let fresh: string[] = [];

    const start = async () => {
      hub.forget();
      count = 0;
      hasCrashed = false;
      const filters =
        isBlocked && starts === 0 ? [`--content-filter=${writeFilter(folder, baseUrl)}`] : [];
      starts++;
      const place = {
        HOME: folder,
        XDG_DATA_HOME: join(folder, 'data'),
        XDG_CACHE_HOME: join(folder, 'cache'),
        XDG_CONFIG_HOME: join(folder, 'config'),
      };
      // The folder as its class: what tells its process from others'.
      const more = [...filters, ...(isPrivate ? ['--private'] : []), `--class=${folder}`];
      // Those given at the start have processes of their own. Only what a script opens shares one.
      fresh = apart ? ['main', 'second'] : ['main'];
      const addressOf = (name: string) => (name === 'main' ? home : `${home}#${name}`);
      const browser = spawn(program, [...ARGUMENTS, ...more, ...fresh.map(addressOf)], {
        detached: true,
        env: { ...process.env, ...place, DISPLAY: screen.display, NO_AT_BRIDGE: '1' },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      running = browser;
      createInterface({ input: browser.stdout }).on('line', (line) => {
        if (line.includes('CONSOLE ') && !NOISE.test(line)) guest.report(line);
      });
      for (const name of fresh) await hub.arrival(name, '', addressOf(name));
    };

    const end = async (stop: (browser: ChildProcess) => void) => {
      const browser = running;
      if (!browser) return;
      running = undefined;
      if (browser.exitCode === null && browser.signalCode === null) {
        const gone = new Promise((resolve) => browser.once('exit', resolve));
        stop(browser);
        await gone;
      }
      // Its helpers follow it by themselves.
      await until(() => !hasGroup(browser.pid!), { within: GONE_WITHIN_MS });
      hub.forget();
    };
    const kill = () => end(() => killBrowser(folder));

    const createTab = (name: string): Tab => {
      const born = starts;
      // In a browser started anew, another tab may bear its name.
      const tab = createAgentTab(hub, name, home, () => !running || starts !== born);
      const popup = async (address: string) => {
        const target = `tab-${++count}`;
        await tab.evaluate(([address, target]) => void window.open(address, target), [
          address,
          target,
        ] as const);
        await hub.arrival(target, '', address);
        const opened = createTab(target);
        tabs.push(opened);
        return opened;
      };
      return { ...tab, popup };
    };

    await start();
    return {
      newTab: async () => {
        // MiniBrowser does not load a page again whose process has died.
        if (hasCrashed) {
          await kill();
          await start();
        }
        const name = fresh.shift();
        const tab = createTab(name ?? 'main');
        if (!name) return tab.popup(home);
        tabs.push(tab);
        return tab;
      },
      offline: async (is) => {
        // What pages believe. That nothing answers is the service's part.
        for (const tab of tabs.filter((tab) => !tab.isClosed())) await tab.evaluate(pretend, !is);
      },
      crashPages: async () => {
        if (killParts(folder, /WebKitWebProcess/) === 0) throw new Error('No process runs a page');
        hasCrashed = true;
      },
      ...(apart && { stopPages: () => stopParts(folder, WEB_PROCESS, 1) }),
      stopWorkers: () => Promise.reject(new Error('Nothing stops a service worker here')),
      quit: () => end((browser) => void browser.kill('SIGTERM')),
      kill,
      start,
      requests: [],
      dispose: kill,
    };
  };

  return {
    name: 'webkit',
    version,
    head: AGENT_HEAD,
    open,
    close: async () => screen.stop(),
  };
};

/** Makes a page believe that it is online or not. It stands alone. */
const pretend = (isOnline: boolean): void => {
  Object.defineProperty(navigator, 'onLine', { configurable: true, value: isOnline });
  dispatchEvent(new Event(isOnline ? 'online' : 'offline'));
};

const hasGroup = (pid: number): boolean => {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
};

const writeFilter = (folder: string, address: string): string => {
  const path = join(folder, 'filter.json');
  const trigger = { 'url-filter': `^${address.replaceAll('.', '\\.')}/` };
  writeFileSync(path, JSON.stringify([{ trigger, action: { type: 'block' } }]));
  return path;
};
