import { findChromium, findFirefox } from './find-browser.mjs';

/** Executables to test in. */
export interface FoundBrowsers {
  chromium: string;
  /** Undefined where there is none: its tests are left out. */
  firefox: string | undefined;
}

export const foundBrowsers = (): FoundBrowsers => ({
  chromium: findChromium(),
  firefox: findFirefox(),
});
