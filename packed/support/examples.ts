import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLES_FOLDER, FOLDER, installPacked, ROOT } from './install.js';
import { runProgram } from './program.js';

const MODULES = join(FOLDER, 'node_modules');
const STAMP = join(EXAMPLES_FOLDER, '.built-from');

interface Step {
  run: readonly string[];
  /** What of the environment is for this step alone. */
  env?: Record<string, string>;
}

const VITE = ['vite/bin/vite.js', 'build', '--logLevel', 'error'];

/** What builds each example: programs with their arguments. */
const EXAMPLES: Record<string, readonly Step[]> = {
  'next-app': [{ run: ['next/dist/bin/next', 'build'] }],
  astro: [{ run: ['astro/astro.js', 'build', '--silent'] }],
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
    { run: [...VITE, '--ssr', '../../recipes/support/render-vue.ts', '--outDir', 'dist-server'] },
  ],
};

const QUIET = { NEXT_TELEMETRY_DISABLED: '1', ASTRO_TELEMETRY_DISABLED: '1' };

const buildExample = async (steps: readonly Step[], folder: string): Promise<void> => {
  for (const { run, env } of steps) {
    const [program = '', ...args] = run;
    await runProgram({
      command: [process.execPath, join(MODULES, program), ...args],
      folder,
      env: { NODE_ENV: 'production', ...QUIET, ...env },
    });
  }
};

/** Builds all examples over the package that is installed beside them. */
export const buildExamples = async (): Promise<void> => {
  // The first takes as long as the others together: two lanes, so that two cores are busy.
  const [next, ...others] = Object.entries(EXAMPLES);
  const lane = async (examples: typeof others) => {
    for (const [name, steps] of examples) await buildExample(steps, join(EXAMPLES_FOLDER, name));
  };
  const lanes = [lane([next!]), lane(others)];
  await Promise.allSettled(lanes); // so that none goes on when another fails
  await Promise.all(lanes);
  writeFileSync(STAMP, '');
};

/** The same from the beginning, unless they are built from the last build. */
export const prepareExamples = async (): Promise<void> => {
  const timeOf = (file: string) => (existsSync(file) ? statSync(file).mtimeMs : 0);
  if (timeOf(STAMP) > timeOf(join(ROOT, 'dist/index.js'))) return;
  installPacked();
  await buildExamples();
};
