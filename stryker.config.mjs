/**
 * Mutation testing (`npm run mutate`): changes the code in small ways and runs the tests on each change. One that no test
 * notices is a hole in the tests, or code that nobody needs. A folder or file alone:
 *
 *     npm run mutate -- --mutate 'src/client/outbox/*.ts' --concurrency 2
 */
export default {
  mutate: ['src/client/outbox/**/*.ts', 'src/client/delivery/**/*.ts'],
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'vitest.stryker.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // A mutant that changes text alone says nothing of behaviour: messages are for people.
  mutator: { excludedMutations: ['StringLiteral'] },
  ignoreStatic: true,
  tempDirName: '.tmp/stryker',
  ignorePatterns: ['dist', 'demo', 'e2e', 'docs', 'site', 'test-results', '.tmp'],
  timeoutMS: 20_000,
  dryRunTimeoutMinutes: 15,
  reporters: ['clear-text', 'progress-append-only', 'json', 'html'],
  jsonReporter: { fileName: 'test-results/mutation.json' },
  htmlReporter: { fileName: 'test-results/mutation.html' },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
};
