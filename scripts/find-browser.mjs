/**
 * Finds the browsers the end-to-end tests run in, on a developer's laptop as on a bare Debian.
 * Nothing is believed until it has been launched and has loaded a page.
 *
 *     node scripts/find-browser.mjs          prints a line a browser
 *     node scripts/find-browser.mjs --json   prints { "chromium": path, "firefox": path or null }
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, firefox } from 'playwright';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE_FILE = join(ROOT, 'node_modules/.cache/analytics-outbox/browsers.json');
const PLAYWRIGHT_CLI = join(ROOT, 'node_modules/playwright/cli.js');

const PROOF_TIMEOUT_MS = 20_000;
const DOWNLOAD_TIMEOUT_MS = 180_000;
const APT_TIMEOUT_MS = 300_000;

const CHROMIUM_COMMANDS = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
];
const FIREFOX_COMMANDS = ['firefox-esr', 'firefox'];

const CHROMIUM_PLACES = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: programFolders().flatMap((folder) => [
    join(folder, 'Google/Chrome/Application/chrome.exe'),
    join(folder, 'Microsoft/Edge/Application/msedge.exe'),
  ]),
};
const FIREFOX_PLACES = {
  darwin: ['/Applications/Firefox.app/Contents/MacOS/firefox'],
  win32: programFolders().map((folder) => join(folder, 'Mozilla Firefox/firefox.exe')),
};

/** Path of a Chromium that works. Throws, in words, when there is none and none can be had. */
export async function findChromium() {
  const found = await firstThatWorks('chromium', chromiumCandidates(), proveChromium);
  if (!found) {
    throw new Error(
      'No Chromium that starts was found or could be installed. Install one (Debian: ' +
        '`apt-get install chromium`; elsewhere: `npx playwright install chromium`), or set ' +
        'CHROMIUM_PATH to the executable of a Chromium, Chrome or Edge.',
    );
  }
  return found;
}

/** Path of a Firefox that works, or undefined: its tests are a bonus, so none is forced on anyone. */
export async function findFirefox() {
  if (process.env.FIREFOX_PATH === 'none') return undefined;
  return firstThatWorks('firefox', firefoxCandidates(), proveFirefox);
}

// Candidates come lazily, cheapest first: the installs at the end run only when all else has failed.
function* chromiumCandidates() {
  // CHROMIUM_PATH may be set but empty.
  yield process.env.CHROMIUM_PATH || undefined;
  yield readCache().chromium;
  yield 'playwright';
  yield* onPath(CHROMIUM_COMMANDS);
  yield* CHROMIUM_PLACES[process.platform] ?? [];
  if (
    run(
      process.execPath,
      [PLAYWRIGHT_CLI, 'install', '--only-shell', 'chromium'],
      DOWNLOAD_TIMEOUT_MS,
    )
  ) {
    yield 'playwright';
  }
  if (aptInstall('chromium')) yield* onPath(CHROMIUM_COMMANDS);
}

function* firefoxCandidates() {
  yield process.env.FIREFOX_PATH || undefined;
  yield readCache().firefox;
  yield* onPath(FIREFOX_COMMANDS);
  yield* FIREFOX_PLACES[process.platform] ?? [];
  const mayInstall = process.env.FIREFOX_INSTALL || process.env.CI;
  if (mayInstall && aptInstall('firefox-esr')) yield* onPath(FIREFOX_COMMANDS);
}

async function firstThatWorks(name, candidates, prove) {
  const failed = new Set();
  for (const candidate of candidates) {
    if (!candidate || (failed.has(candidate) && candidate !== 'playwright')) continue;
    try {
      const path = await prove(candidate);
      writeCache({ [name]: path });
      return path;
    } catch (error) {
      failed.add(candidate);
      const isOurGuess = candidate === 'playwright';
      if (!isOurGuess) note(`${candidate} does not work: ${firstLine(error)}`);
    }
  }
  return undefined;
}

async function proveChromium(candidate) {
  const options = candidate === 'playwright' ? {} : { executablePath: existing(candidate) };
  // A browser server, because only that tells which executable Playwright took for its own.
  const server = await chromium.launchServer({ ...options, timeout: PROOF_TIMEOUT_MS });
  try {
    await loadAPage(await chromium.connect(server.wsEndpoint()));
    return server.process().spawnfile;
  } finally {
    await server.close();
  }
}

async function proveFirefox(candidate) {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: existing(candidate),
    timeout: PROOF_TIMEOUT_MS,
  });
  try {
    await loadAPage(browser);
    return candidate;
  } finally {
    await browser.close();
  }
}

async function loadAPage(browser) {
  const page = await browser.newPage();
  await page.goto('data:text/html,<title>works</title>', { timeout: PROOF_TIMEOUT_MS });
  if ((await page.title()) !== 'works') throw new Error('it started but loads no page');
}

function existing(path) {
  if (!existsSync(path)) throw new Error('there is no such file');
  return path;
}

function* onPath(commands) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const extension = process.platform === 'win32' ? '.exe' : '';
  for (const command of commands) {
    for (const folder of folders) {
      const path = join(folder, command + extension);
      if (existsSync(path)) yield path;
    }
  }
}

function programFolders() {
  const { ProgramFiles, LOCALAPPDATA } = process.env;
  return [ProgramFiles, process.env['ProgramFiles(x86)'], LOCALAPPDATA].filter(Boolean);
}

function aptInstall(name) {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return false;
  run('apt-get', ['-qq', 'update'], APT_TIMEOUT_MS);
  return run('apt-get', ['-qq', '-y', 'install', name], APT_TIMEOUT_MS);
}

/** Whether the command went well. Its output goes to stderr: stdout is for the paths. */
function run(command, args, timeout) {
  note(`trying: ${[command === process.execPath ? 'node' : command, ...args].join(' ')}`);
  try {
    execFileSync(command, args, {
      stdio: ['ignore', 2, 2],
      timeout,
      killSignal: 'SIGKILL',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    return true;
  } catch (error) {
    note(`that failed: ${firstLine(error)}`);
    return false;
  }
}

function readCache() {
  try {
    return JSON.parse(readFileSync(CACHE_FILE, 'utf8'));
  } catch {
    // Not there yet, or torn by a killed run: it is only a shortcut.
    return {};
  }
}

function writeCache(found) {
  mkdirSync(dirname(CACHE_FILE), { recursive: true });
  writeFileSync(CACHE_FILE, JSON.stringify({ ...readCache(), ...found }));
}

function note(text) {
  process.stderr.write(`find-browser: ${text}\n`);
}

function firstLine(error) {
  return String(error.message ?? error).split('\n', 1)[0];
}

async function main() {
  const found = { chromium: await findChromium(), firefox: (await findFirefox()) ?? null };
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify(found));
    return;
  }
  console.log(`chromium ${found.chromium}`);
  console.log(`firefox  ${found.firefox ?? 'none (its smoke tests are left out)'}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
