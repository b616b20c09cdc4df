import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Executables to test in. */
export interface FoundBrowsers {
  chromium: string;
  /** Undefined where there is none: its tests are left out. */
  firefox: string | undefined;
}

const FINDER = fileURLToPath(new URL('../../scripts/find-browser.mjs', import.meta.url));
const CACHE_FILE = fileURLToPath(
  new URL('../../node_modules/.cache/analytics-outbox/browsers.json', import.meta.url),
);
const NONE = 'none';

/**
 * Which browsers to use, at once: a Playwright config cannot wait. By the environment, or what the
 * finder found last, or the finder itself. Written back to the environment, which workers inherit.
 */
export const foundBrowsers = (): FoundBrowsers => {
  const found = fromEnvironment() ?? fromCache() ?? fromFinder();
  process.env.CHROMIUM_PATH = found.chromium;
  process.env.FIREFOX_PATH = found.firefox ?? NONE;
  return found;
};

const fromEnvironment = (): FoundBrowsers | undefined => {
  const { CHROMIUM_PATH, FIREFOX_PATH } = process.env;
  if (!CHROMIUM_PATH || !FIREFOX_PATH) return undefined;
  return { chromium: CHROMIUM_PATH, firefox: FIREFOX_PATH === NONE ? undefined : FIREFOX_PATH };
};

const fromCache = (): FoundBrowsers | undefined => {
  const { CHROMIUM_PATH, FIREFOX_PATH } = process.env;
  // One of the two is set by hand: the finder knows what to make of it.
  if (CHROMIUM_PATH || FIREFOX_PATH) return undefined;
  try {
    const { chromium, firefox } = JSON.parse(readFileSync(CACHE_FILE, 'utf8')) as FoundBrowsers;
    return existsSync(chromium) && existsSync(firefox ?? '') ? { chromium, firefox } : undefined;
  } catch {
    // No earlier find, or one torn by a killed run.
    return undefined;
  }
};

const fromFinder = (): FoundBrowsers => {
  const answer = execFileSync(process.execPath, [FINDER, '--json'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { chromium, firefox } = JSON.parse(answer) as { chromium: string; firefox: string | null };
  return { chromium, firefox: firefox ?? undefined };
};
