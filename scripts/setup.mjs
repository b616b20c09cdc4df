/**
 * Gets what the tests need beside the packages of npm: a Chromium, and for some of them a Firefox and servers.
 *
 *     node scripts/setup.mjs    installs all that is missing
 *
 * `npm test` gets the Chromium, and with SETUP=1 the rest, too. Packages of Debian and Ubuntu need root. If all is asked for,
 * a `sudo` that wants no password will do.
 */
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findChromium, findFirefox } from '../e2e/support/find-browser.mjs';
import { findProgram, missingServers, SERVERS } from '../test/support/find-program.mjs';

const isMain = realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
const wantsAll = isMain || !!process.env.SETUP;
const isRoot = process.getuid?.() === 0;

/** Says a command and runs it, without its output. Returns why it failed; undefined if it did not. */
const run = (name, [command, ...args]) => {
  console.log(`${name} …`);
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status === 0) return undefined;
  const [, reason] = /^E(?:rror)?: (.+)$/m.exec(`${stderr}\n${stdout}`) ?? [];
  return `${name} failed (${reason ?? error?.message ?? `exit code ${status}`})`;
};

const CLI = fileURLToPath(new URL('../node_modules/playwright/cli.js', import.meta.url));
const playwright = (verb) =>
  run(`playwright ${verb} chromium`, [process.execPath, CLI, verb, 'chromium']);

const SUDO = isRoot ? [] : ['sudo', '-n'];
const apt = (...args) =>
  run(`apt-get ${args.join(' ')}`, [
    ...[...SUDO, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', '-y'],
    ...['--no-install-recommends', ...args],
  ]);
let hasLists = false;

/** Does what only root may, on Debian and Ubuntu. Returns why it failed; undefined if it did not. */
const asRoot = (work) => {
  if (!findProgram('apt-get')) return 'there is no apt-get';
  const hasSudo = () => spawnSync('sudo', ['-n', 'true']).status === 0;
  if (!isRoot && !(wantsAll && hasSudo())) return 'apt-get needs root';
  return work();
};
const install = (name) =>
  asRoot(() => {
    // It may fail for one of many lists, and the package be in another.
    if (!hasLists) apt('update');
    hasLists = true;
    return apt('install', name);
  });

/** Why no Chromium is found; undefined if one is. */
const noChromiumYet = () => {
  try {
    findChromium();
    return undefined;
  } catch ({ message }) {
    return message;
  }
};

/** Gets a Chromium if there is none. Returns why it could not. */
const getChromium = () => {
  const problem = noChromiumYet();
  if (!problem || process.env.CHROMIUM_PATH) return problem;
  console.log('There is no Chromium on this machine.');
  const problems = [playwright('install')];
  // Playwright's download comes without the libraries that it needs.
  if (noChromiumYet())
    problems.push(problems[0] ? install('chromium') : asRoot(() => playwright('install-deps')));
  return (
    noChromiumYet() &&
    `there is no Chromium: ${problems.map((reason) => reason ?? 'it does not start').join(', ')}`
  );
};

const PACKAGES = {
  Firefox: 'firefox-esr',
  ...Object.fromEntries(Object.entries(SERVERS).map(([name, server]) => [name, server.package])),
};
const missingNames = () => [...(findFirefox() ? [] : ['Firefox']), ...missingServers()];

/** Returns why there is no Chromium, if that is needed, and the names of what else is missing. */
export const setUp = ({ needsChromium }) => {
  const noChromium = needsChromium ? getChromium() : undefined;
  const problems = wantsAll ? missingNames().map((name) => install(PACKAGES[name])) : [];
  for (const problem of new Set(problems)) if (problem) console.log(problem);
  const missing = missingNames();
  if (noChromium) console.log(`The tests in a browser are left out: ${noChromium}`);
  if (missing.length)
    console.log(
      `Not on this machine: ${missing.join(', ')}. Tests that need them are left out. ` +
        'As root on Debian or Ubuntu, SETUP=1 installs them.',
    );
  return { noChromium, missing };
};

if (isMain) {
  const { noChromium, missing } = setUp({ needsChromium: true });
  process.exitCode = noChromium || missing.length ? 1 : 0;
}
