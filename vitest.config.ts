import { defineConfig } from 'vitest/config';
import { missingServers, SERVERS } from './test/support/find-program.mjs';
import { testingPlatform } from './testing-platform.mjs';

const missing = missingServers();
/** A test says by its tags which programs it needs; it is left out where one of them is missing. */
const tags = Object.keys(SERVERS).map((name) => ({
  name,
  ...(missing.includes(name) && { skip: true }),
}));
/** Far above what any needs: a loaded machine is no failure. */
const PATIENCE = { testTimeout: 120_000, hookTimeout: 120_000 };
/** Threads start faster than processes. A project does not take the pool from above it. */
const IN_THREADS = { ...PATIENCE, pool: 'threads' } as const;

export default defineConfig({
  test: {
    // By itself it leaves a core free, which on two cores is half of them.
    maxWorkers: '100%',
    projects: [
      {
        plugins: [testingPlatform('?testing')],
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          setupFiles: ['test/support/pin-seed.ts', 'test/support/patience.ts'],
          ...IN_THREADS,
          tags,
        },
      },
      {
        // What the package holds as it would be published. Needs the build.
        test: {
          name: 'packed',
          include: ['packed/*.test.ts'],
          // Attacks take all of a machine for a minute.
          exclude: process.env.NIGHT ? [] : ['packed/attacks.test.ts'],
          globalSetup: 'packed/support/install.ts',
          setupFiles: ['test/support/patience.ts'],
          ...PATIENCE,
          testTimeout: 180_000,
          tags,
        },
      },
      {
        test: {
          name: 'world',
          include: ['world/**/*.test.ts'],
          setupFiles: ['test/support/pin-seed.ts'],
          ...IN_THREADS,
        },
      },
    ],
  },
});
