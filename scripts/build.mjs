/**
 * Builds `dist/` and the demo, and prints what a website needs. The last build stays whole until the new one is.
 *
 *     node scripts/build.mjs                 checks the types, too
 *     node scripts/build.mjs --if-changed    builds only where a source has changed since, and says nothing of tags
 *     node scripts/build.mjs --types         checks the types alone
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUNDLED, NEXT } from '../rollup.names.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
process.chdir(ROOT); // the configuration of Rollup has its paths from there
const SOURCES = [
  ...['src', 'demo/page', 'demo/server', 'demo/site'],
  ...['rollup.config.mjs', 'rollup.names.mjs', 'testing-platform.mjs'],
  ...['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'],
];
const FOLDERS = ['dist', 'demo/dist'];
/** Where the demo says what it was built from. */
const STAMP = '.built-from';

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

/** Ends what goes on beside a step that has failed, or that the developer has broken off. */
const failed = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    failed.abort();
    process.exit(1);
  });

/** Runs Node on these arguments; what it prints is shown if it fails. */
const run = (args, onPrint = () => {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, signal: failed.signal });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => onPrint((printed += text)));
    }
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(printed))));
  });

/**
 * @param part `code` or `types`
 * @param onStep called for each part of the configuration that is written
 */
const rollup = (part, onStep) => {
  let written = 0;
  return run(['node_modules/rollup/dist/bin/rollup', '-c', '--configPart', part], (printed) => {
    for (const all = printed.match(/created .+ in /g)?.length ?? 0; written < all; written++)
      onStep();
  });
};

const TYPE_PROJECTS = [
  ...['.', 'src/client', 'src/server', 'src/server/tsconfig.service.json'],
  ...['src/show', 'src/server/rows/page', 'demo/page'],
];
/** Version 7 checks in a fifth of the time. What bundles and lints still needs the library of version 6. */
const checkTypes = async (onStep = () => {}) => {
  for (const project of TYPE_PROJECTS) {
    await run(['node_modules/typescript-7/bin/tsc', '-p', project]);
    onStep();
  }
};

/** Says how far the build is, in one line that changes. Where there is no terminal, says so at each quarter. */
const createProgress = (total) => {
  let done = 0;
  const quarters = () => Math.floor((4 * done) / total);
  return () => {
    const before = quarters();
    done++;
    const words = `Building: ${done} of ${total}`;
    if (process.stdout.isTTY) process.stdout.write(`\r${words}${done < total ? ' …' : '  \n'}`);
    else if (quarters() > before) console.log(words);
  };
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
  writeFileSync(join(ROOT, `dist${NEXT}/LICENSES.txt`), texts);
};

const remove = (folder) => rmSync(join(ROOT, folder), { recursive: true, force: true });

/** Puts what is built in the place of the last build, of which no file may be taken for one of this. */
const putInPlace = () => {
  for (const folder of FOLDERS) {
    const last = `${folder}.last`;
    remove(last);
    if (existsSync(join(ROOT, folder))) renameSync(join(ROOT, folder), join(ROOT, last));
    renameSync(join(ROOT, folder + NEXT), join(ROOT, folder));
    remove(last);
  }
};

/** Each part keeps one core busy, so two go side by side. */
const build = async ({ withCheck }) => {
  const sources = hashOfSources();
  for (const folder of FOLDERS) remove(folder + NEXT);
  const { default: configure } = await import('../rollup.config.mjs');
  const onStep = createProgress(configure({}).length + (withCheck ? TYPE_PROJECTS.length : 0));
  const types = async () => {
    await rollup('types', onStep);
    if (withCheck) await checkTypes(onStep);
  };
  await Promise.all([rollup('code', onStep), types()]);
  writeLicenses();
  await import('./write-subpaths.mjs');
  writeFileSync(join(ROOT, `demo/dist${NEXT}`, STAMP), sources);
  putInPlace();
};

const isBuilt = () => {
  const stamp = join(ROOT, 'demo/dist', STAMP);
  return (
    existsSync(join(ROOT, 'dist/outbox.js')) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === hashOfSources()
  );
};

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
