/**
 * Where the browsers are that tests run in: as CHROMIUM_PATH and FIREFOX_PATH say, or Playwright's own, or those of this
 * machine.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright';
import { findProgram } from '../../test/support/find-program.mjs';

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

/** The path that a variable names, or what is found without one. */
const find = (variable, search) => {
  const named = process.env[variable];
  const found = named ? findProgram(named) : search();
  if (named && !found) throw new Error(`${variable} is ${named}, and that is not there.`);
  return found;
};

/** Playwright downloads a Chromium without the libraries that it needs. */
const startsOf = (path) =>
  existsSync(path) && spawnSync(path, ['--version']).status === 0 ? path : undefined;

export const findChromium = () => {
  const found = find(
    'CHROMIUM_PATH',
    () => startsOf(chromium.executablePath()) ?? findProgram(...CHROMIUMS),
  );
  if (found) return found;
  throw new Error(
    'There is no Chromium. Run `npx playwright install --with-deps chromium`, or set CHROMIUM_PATH ' +
      'to the executable of a Chromium, Chrome or Edge.',
  );
};

/** Undefined if there is none: its tests are left out. */
export const findFirefox = () =>
  process.env.FIREFOX_PATH === 'none'
    ? undefined
    : find('FIREFOX_PATH', () => findProgram(...FIREFOXES));
