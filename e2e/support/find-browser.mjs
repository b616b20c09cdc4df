/**
 * Where the browsers are that tests run in: as CHROMIUM_PATH and FIREFOX_PATH say, or Playwright's own, or those of this
 * machine.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright';

const CHROMIUMS = [
  ...['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'],
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  'C:/Program Files/Google/Chrome/Application/chrome.exe',
  'C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe',
];
const FIREFOXES = [
  ...['firefox-esr', 'firefox'],
  '/Applications/Firefox.app/Contents/MacOS/firefox',
  'C:/Program Files/Mozilla Firefox/firefox.exe',
];

/** The path of the first that there is, of paths and of commands. */
const firstOf = (candidates) =>
  candidates
    .flatMap((name) => [name, ...process.env.PATH.split(delimiter).map((at) => join(at, name))])
    .find((path) => /[/\\]/.test(path) && existsSync(path));

export const findChromium = () => {
  const named = process.env.CHROMIUM_PATH;
  const found = firstOf(named ? [named] : [chromium.executablePath(), ...CHROMIUMS]);
  if (found) return found;
  throw new Error(
    (named ? `CHROMIUM_PATH is ${named}, and that is not there. ` : 'There is no Chromium. ') +
      'Run `npx playwright install chromium`, or set CHROMIUM_PATH to the executable of a ' +
      'Chromium, Chrome or Edge.',
  );
};

/** Undefined where there is none: its tests are left out. */
export const findFirefox = () => {
  const named = process.env.FIREFOX_PATH;
  return named === 'none' ? undefined : named || firstOf(FIREFOXES);
};
