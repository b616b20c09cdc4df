import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installLocked, npm } from './install-locked.mjs';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCE = join(ROOT, 'packed');

/** Whether to try what takes too long for each push: the tools and frameworks of users come from a registry. */
export const NIGHT = !!process.env.NIGHT;

/** Copies are made here, so that the checkout stays clean. What they depend on is kept for the next run. */
export const FOLDER = join(ROOT, '.tmp/packed');
export const EXAMPLES_FOLDER = join(FOLDER, 'examples');
export const TARBALL = join(FOLDER, 'analytics-outbox.tgz');
/** The package as an install leaves it. */
export const INSTALLED = join(FOLDER, 'node_modules/analytics-outbox');
/** What somebody who tried one in place has left there. */
const MADE_BY_HAND = /[/\\](node_modules|dist|build|\.next|\.astro|\.svelte-kit)$/;

/** Unpacks the package into `node_modules` of a folder. An install does no more: it has no dependencies. */
export const unpackInto = (folder: string, peers: readonly string[] = []): string => {
  const target = join(folder, 'node_modules/analytics-outbox');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', TARBALL, '-C', target, '--strip-components=1']);
  for (const name of peers) {
    symlinkSync(join(ROOT, 'node_modules', name), join(dirname(target), name), 'junction');
  }
  return target;
};

/** Packs the package, and puts it beside what its users have: the recipes, the examples and, by night, their tools. */
export const installPacked = (): void => {
  mkdirSync(FOLDER, { recursive: true });
  // By day they find what they need in the project's own modules, two folders above.
  if (NIGHT) installLocked({ source: SOURCE, folder: FOLDER, megabytes: 1_100 });
  for (const name of readdirSync(FOLDER)) {
    if (!/^(node_modules|package(-lock)?\.json)$/.test(name))
      rmSync(join(FOLDER, name), { recursive: true });
  }
  for (const [from, to] of [
    [join(SOURCE, 'recipes'), join(FOLDER, 'recipes')],
    [join(ROOT, 'demo/examples'), EXAMPLES_FOLDER],
  ] as const) {
    const isOurs = (path: string) => !MADE_BY_HAND.test(path.slice(from.length));
    cpSync(from, to, { recursive: true, filter: isOurs });
  }
  npm(ROOT, 'pack', '--silent', '--pack-destination', FOLDER);
  const made = readdirSync(FOLDER).find((name) => name.endsWith('.tgz'))!;
  renameSync(join(FOLDER, made), TARBALL);
  unpackInto(FOLDER);
};

export default installPacked;
