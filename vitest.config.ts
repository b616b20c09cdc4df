import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Far above what any needs: a loaded machine is no failure.
    testTimeout: 60_000,
  },
});
