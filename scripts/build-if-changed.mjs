/**
 * Builds if a source has changed since the last build, and says nothing if none has.
 *
 *     node scripts/build-if-changed.mjs
 *     node scripts/build-if-changed.mjs --built    notes what the build that has just ended was made from
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = ['src', 'demo/page', 'demo/server', 'demo/site'];
const SCRIPTS = ['scripts/tsconfig.build.json', 'scripts/testing-platform.mjs'];
const OTHERS = ['rollup.config.mjs', 'tsconfig.json', 'package-lock.json'];
const STAMP = join(ROOT, 'demo/dist/.built-from');

const filesOf = (path) =>
  statSync(path).isFile()
    ? [path]
    : readdirSync(path)
        .sort()
        .flatMap((name) => filesOf(join(path, name)));

const hash = createHash('sha256');
for (const file of [...SOURCES, ...SCRIPTS, ...OTHERS].flatMap((path) =>
  filesOf(join(ROOT, path)),
)) {
  hash.update(file.slice(ROOT.length)).update(readFileSync(file));
}
const now = hash.digest('hex');
const isBuilt =
  existsSync(join(ROOT, 'dist/outbox.js')) &&
  existsSync(join(ROOT, 'demo/dist/demo.js')) &&
  existsSync(STAMP) &&
  readFileSync(STAMP, 'utf8') === now;

if (process.argv.includes('--built')) {
  writeFileSync(STAMP, now);
} else if (!isBuilt) {
  console.log('Building (about half a minute; once, until something changes) …');
  const options = { cwd: ROOT, encoding: 'utf8', shell: process.platform === 'win32' };
  await import('./empty-dist.mjs');
  const { status, stdout, stderr } = spawnSync('npx', ['rollup', '-c', '--silent'], options);
  if (status !== 0) {
    console.error(`${stdout}${stderr}`);
    process.exit(1);
  }
  writeFileSync(STAMP, now);
}
