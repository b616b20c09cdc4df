import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLES_FOLDER, EXAMPLES_SOURCE, FOLDER, ROOT } from './install.mjs';
import { runProgram } from './program.mjs';

const MODULES = join(FOLDER, 'node_modules');
const STAMP = join(EXAMPLES_FOLDER, '.built-from');

const VITE = ['vite/bin/vite.js', 'build', '--logLevel', 'error'];
const NEXT = ['next/dist/bin/next', 'build'];
const ASTRO = ['astro/astro.js', 'build', '--silent'];

/** What builds each example: programs with their arguments, and what of the environment is for them alone. */
export const EXAMPLES = {
  'next-app': [{ run: NEXT }],
  astro: [{ run: ASTRO }],
  svelte: [{ run: VITE }],
  'react-vite': [
    { run: ['typescript/bin/tsc'] },
    { run: VITE },
    // Here StrictMode runs each effect twice.
    {
      run: [...VITE, '--mode', 'development', '--outDir', 'dist-development'],
      env: { NODE_ENV: 'development' },
    },
  ],
  vue: [
    { run: VITE },
    { run: [...VITE, '--ssr', '../../support/render-vue.ts', '--outDir', 'dist-server'] },
  ],
};

const QUIET = { NEXT_TELEMETRY_DISABLED: '1', ASTRO_TELEMETRY_DISABLED: '1' };

/** Starts to build these examples, two at a time. Answers with a promise for each. */
export function buildExamples(names = Object.keys(EXAMPLES)) {
  const lanes = [Promise.resolve(), Promise.resolve()];
  const built = {};
  names.forEach((name, index) => {
    const lane = index % lanes.length;
    built[name] = lanes[lane].then(() => buildExample(name));
    lanes[lane] = built[name].catch(() => undefined); // said where the example is used
  });
  return built;
}

async function buildExample(name) {
  for (const { run, env } of EXAMPLES[name]) {
    const [program, ...args] = run;
    await runProgram({
      command: [process.execPath, join(MODULES, program), ...args],
      folder: join(EXAMPLES_FOLDER, name),
      env: { NODE_ENV: 'production', ...QUIET, ...env },
    });
  }
}

/** What the examples are made from: their sources, the package as it is built now, and what they need. */
function hashOfSources() {
  const hash = createHash('sha256');
  const files = [
    ...filesOf(EXAMPLES_SOURCE),
    ...filesOf(join(ROOT, 'dist')),
    join(ROOT, 'package.json'),
    join(ROOT, 'e2e/recipes/package-lock.json'),
  ];
  for (const file of files) hash.update(file.slice(ROOT.length)).update(readFileSync(file));
  return hash.digest('hex');
}

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesOf(path) : [path];
    });
}

export const noteBuilt = () => writeFileSync(STAMP, hashOfSources());

/** Whether all examples are built from what is there now. */
export const areBuilt = () => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hashOfSources();
