/**
 * Builds `dist/` and the demo, and prints what a website needs.
 *
 *     node scripts/build.mjs                 checks the types, too
 *     node scripts/build.mjs --if-changed    builds only where a source has changed since, and says nothing of tags
 *     node scripts/build.mjs --types         checks the types alone
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUNDLED } from '../rollup.names.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = [
  ...['src', 'demo/page', 'demo/server', 'demo/site'],
  ...['rollup.config.mjs', 'rollup.names.mjs', 'testing-platform.mjs'],
  ...['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'],
];
/** What the last build was made from. */
const STAMP = join(ROOT, 'demo/dist/.built-from');

const filesOf = (path) =>
  statSync(path).isFile()
    ? [path]
    : readdirSync(path)
        .sort()
        .flatMap((name) => filesOf(join(path, name)));

const hashOfSources = () => {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap((path) => filesOf(join(ROOT, path)))) {
    hash.update(file.slice(ROOT.length)).update(readFileSync(file));
  }
  return hash.digest('hex');
};

/** Ends what goes on beside a step that has failed. */
const failed = new AbortController();

/** Runs Node on these arguments; what it prints is shown if it fails. */
const run = (...args) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, signal: failed.signal });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (printed += text));
    }
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(printed))));
  });

/** @param part `code` or `types` */
const rollup = (part) =>
  run('node_modules/rollup/dist/bin/rollup', '-c', '--silent', '--configPart', part);

/** Version 7 checks in a fifth of the time. What bundles and lints still needs the library of version 6. */
const checkTypes = async () => {
  const projects = [
    '.',
    'src/client',
    'src/server',
    'src/server/tsconfig.service.json',
    'demo/page',
  ];
  for (const project of [...projects, 'src/server/rows/page']) {
    await run('node_modules/typescript-7/bin/tsc', '-p', project);
  }
};

/** Those of the packages that the built files have inside have to go with them. */
const writeLicenses = () => {
  const textOf = (name) => {
    const folder = join(ROOT, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  };
  const texts = BUNDLED.map(textOf).join(`\n${'-'.repeat(80)}\n\n`);
  writeFileSync(join(ROOT, 'dist/LICENSES.txt'), texts);
};

/** No file of the last build may be taken for one of this, or be published with it. */
const removeLastBuild = () => {
  for (const folder of ['dist', 'demo/dist']) {
    rmSync(join(ROOT, folder), { recursive: true, force: true });
  }
};

/** Each part keeps one core busy, so two go side by side. */
const build = async ({ withCheck }) => {
  const sources = hashOfSources();
  removeLastBuild();
  const types = async () => {
    await rollup('types');
    if (withCheck) await checkTypes();
  };
  await Promise.all([rollup('code'), types()]);
  writeLicenses();
  await import('./write-subpaths.mjs');
  writeFileSync(STAMP, sources);
};

const isBuilt = () =>
  existsSync(join(ROOT, 'dist/outbox.js')) &&
  existsSync(STAMP) &&
  readFileSync(STAMP, 'utf8') === hashOfSources();

try {
  if (process.argv.includes('--types')) {
    await checkTypes();
  } else if (!process.argv.includes('--if-changed')) {
    await build({ withCheck: true });
    await import('./print-tag.mjs');
  } else if (!isBuilt()) {
    console.log('Building (about half a minute; once, until something changes) …');
    await build({ withCheck: false });
  }
} catch (error) {
  failed.abort();
  console.error(error.message);
  process.exitCode = 1;
}
