import { defineConfig } from '@playwright/test';
import { findMiniBrowser } from './e2e/promise/engines/webkit.js';
import { CHROMIUM_ARGUMENTS } from './e2e/support/chromium-arguments.js';
import { findChromium, findFirefox } from './e2e/support/find-browser.mjs';
import type { Mode } from './e2e/support/test.js';

const chromium = { executablePath: findChromium(), args: CHROMIUM_ARGUMENTS };
/** Undefined where there is none: its tests are left out. */
const firefox = findFirefox();

/** Which tests: without a value those of each push, `all` of them, or the `soak` alone. */
const { PROMISE } = process.env;
const leftOut = { all: /@soak/, soak: /^(?!.*@soak)/ }[PROMISE ?? ''] ?? /@nightly|@soak/;

export default defineConfig<{ mode: Mode }>({
  testDir: 'e2e',
  // The examples of five frameworks take a minute to build: they are for the night.
  testIgnore: ['fixtures/**', ...(process.env.NIGHT ? [] : ['examples.spec.ts'])],
  grepInvert: leftOut,
  outputDir: 'test-results/e2e',
  fullyParallel: true,
  // Two cores on the smallest machine this runs on, and tests that mostly wait.
  workers: 3,
  // A flaky delivery test is a delivery bug until shown otherwise.
  retries: 0,
  // On a loaded machine all takes many times as long, and what is waited for comes late. Playwright's own limits are 30 and 5 s.
  timeout: 180_000,
  expect: { timeout: 60_000 },
  globalTimeout: PROMISE ? 0 : 60 * 60_000,
  forbidOnly: !!process.env.CI,
  reporter: [
    ['list'],
    ['json', { outputFile: 'test-results/e2e.json' }],
    ...(process.env.MEASURED ? ([['./e2e/promise/reporter.ts']] as const) : []),
  ],
  projects: [
    {
      name: 'chromium',
      use: { browserName: 'chromium', launchOptions: chromium },
    },
    {
      // Rows that read the same through a relay. What differs there stands in e2e/relay.spec.ts.
      name: 'chromium-relay',
      grep: /plain\.spec\.ts|@relay/,
      use: {
        mode: 'relay',
        browserName: 'chromium',
        launchOptions: chromium,
      },
    },
    ...(firefox
      ? [
          {
            name: 'firefox',
            grep: PROMISE === 'all' ? /@smoke|@firefox|promise\.spec/ : /@smoke/,
            use: {
              browserName: 'firefox' as const,
              // Drives a stock Firefox; Playwright 1.65 no longer does.
              launchOptions: { channel: 'moz-firefox', executablePath: firefox },
            },
          },
        ]
      : []),
    ...(PROMISE === 'all' && findMiniBrowser()
      ? [{ name: 'webkit', testMatch: 'promise/promise.spec.ts' }]
      : []),
  ],
});
