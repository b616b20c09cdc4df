import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SOURCE = join(ROOT, 'e2e/recipes');
export const EXAMPLES_SOURCE = join(ROOT, 'demo/examples');

/** A copy, so that the checkout stays clean. Its dependencies are kept for the next run. */
export const FOLDER = join(ROOT, '.tmp/recipes');
export const EXAMPLES_FOLDER = join(FOLDER, 'examples');
const MODULES = join(FOLDER, 'node_modules');
/** What somebody who tried one in place has left there. */
const MADE_BY_HAND = /[/\\](node_modules|dist|build|\.next|\.astro|\.svelte-kit)$/;
/** Which lock the modules were installed from; `npm ci` takes it away with them. */
const MARK = join(MODULES, '.installed-from');

/** Copies the recipes and the examples, and installs what they need: their lock, and the package from its tarball. */
export function installRecipes() {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of readdirSync(FOLDER)) {
    if (name !== 'node_modules') rmSync(join(FOLDER, name), { recursive: true });
  }
  for (const [from, to] of [
    [SOURCE, FOLDER],
    [EXAMPLES_SOURCE, EXAMPLES_FOLDER],
  ]) {
    cpSync(from, to, {
      recursive: true,
      filter: (path) => !MADE_BY_HAND.test(path.slice(from.length)),
    });
  }
  const lock = readFileSync(join(SOURCE, 'package-lock.json'), 'utf8');
  if (readMark() !== lock) {
    console.log('installing what the recipes and the examples need (about 950 MB)');
    npm(FOLDER, 'ci');
    writeFileSync(MARK, lock);
  }
  npm(ROOT, 'pack', '--silent', '--pack-destination', FOLDER);
  const tarball = readdirSync(FOLDER).find((name) => name.endsWith('.tgz'));
  rmSync(join(MODULES, 'analytics-outbox'), { recursive: true, force: true });
  npm(FOLDER, 'install', '--no-save', '--ignore-scripts', `./${tarball}`);
}

function readMark() {
  try {
    return readFileSync(MARK, 'utf8');
  } catch {
    return undefined; // nothing installed yet, or not to its end
  }
}

function npm(folder, ...args) {
  const all = [...args, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  try {
    execFileSync('npm', all, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    throw new Error(
      `\`npm ${args.join(' ')}\` failed in ${folder}. They need a registry for their ` +
        `dependencies; RECIPES=skip leaves the recipes and the examples out.\n${error.stderr ?? error.message}`,
      { cause: error },
    );
  }
}
