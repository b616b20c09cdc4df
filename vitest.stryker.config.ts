import { defineConfig } from 'vitest/config';

/** What has to notice a change of the client: the tests of its files and of what they share, and random worlds. */
export default defineConfig({
  test: {
    include: ['test/{client,api,interface}/**/*.test.ts', 'world/**/*.test.ts'],
    setupFiles: ['test/support/pin-seed.ts'],
    testTimeout: 60_000,
    // Each change meets all of them.
    env: { WORLDS: '42' },
  },
});
