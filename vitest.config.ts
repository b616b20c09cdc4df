import { defineConfig } from 'vitest/config';
import { testingPlatform } from './scripts/testing-platform.mjs';

export default defineConfig({
  plugins: [testingPlatform('?testing')],
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/pin-seed.ts'],
    // By itself it leaves a core free, which on two cores is half of them.
    maxWorkers: '100%',
    // Far above what any needs: a loaded machine is no failure.
    testTimeout: 60_000,
  },
});
