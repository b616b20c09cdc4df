/** Mutation testing, run a folder at a time by `npm run mutate` (lab/mutation/mutate.mjs). */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'lab/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // A mutant that changes text alone says nothing of behaviour; messages are for people.
  mutator: { excludedMutations: ['StringLiteral'] },
  ignoreStatic: true,
  tempDirName: '.tmp/stryker',
  ignorePatterns: ['dist', 'demo', 'e2e', 'docs', 'test-results', '.tmp'],
  timeoutMS: 20_000,
  reporters: ['clear-text', 'json'],
  clearTextReporter: {
    allowColor: false,
    logTests: false,
    reportTests: false,
    reportMutants: false,
  },
  allowEmpty: false,
};
