import { defineConfig } from 'vitest/config';

/** The tests that a mutant of these folders must not survive: those of the folders themselves. */
export default defineConfig({
  test: {
    include: ['test/{client,interface}/**/*.test.ts'],
    testTimeout: 60_000,
  },
});
