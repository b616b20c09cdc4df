import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installLocked, npm } from '../../../scripts/install-locked.mjs';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SOURCE = join(ROOT, 'e2e/recipes');
export const EXAMPLES_SOURCE = join(ROOT, 'demo/examples');

/** A copy, so that the checkout stays clean. Its dependencies are kept for the next run. */
export const FOLDER = join(ROOT, '.tmp/recipes');
export const EXAMPLES_FOLDER = join(FOLDER, 'examples');
/** What somebody who tried one in place has left there. */
const MADE_BY_HAND = /[/\\](node_modules|dist|build|\.next|\.astro|\.svelte-kit)$/;

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
  installLocked({ source: SOURCE, folder: FOLDER, megabytes: 950 });
  npm(ROOT, 'pack', '--silent', '--pack-destination', FOLDER);
  const tarball = readdirSync(FOLDER).find((name) => name.endsWith('.tgz'));
  rmSync(join(FOLDER, 'node_modules/analytics-outbox'), { recursive: true, force: true });
  npm(FOLDER, 'install', '--no-save', '--ignore-scripts', `./${tarball}`);
}
