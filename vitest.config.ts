import { defineConfig } from 'vitest/config';
import { testingPlatform } from './testing-platform.mjs';

export default defineConfig({
  test: {
    // By itself it leaves a core free, which on two cores is half of them.
    maxWorkers: '100%',
    pool: 'threads',
    projects: [
      {
        plugins: [testingPlatform('?testing')],
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          setupFiles: ['test/support/pin-seed.ts'],
          // Far above what any needs: a loaded machine is no failure.
          testTimeout: 60_000,
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
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'world',
          include: ['world/**/*.test.ts'],
          setupFiles: ['test/support/pin-seed.ts'],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
