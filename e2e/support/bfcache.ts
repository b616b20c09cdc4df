import type { BrowserContext, BrowserType, LaunchOptions, Page } from '@playwright/test';
import type { Guest } from './guest.js';
import { until } from './until.js';

interface Parts {
  browserType: BrowserType;
  launchOptions: LaunchOptions;
  guest: Guest;
}

export type Bfcache = ReturnType<typeof createBfcache>;

/** Contexts with the back/forward cache switched on, which Playwright switches off in Chromium. */
export const createBfcache = ({ browserType, launchOptions, guest }: Parts) => {
  const contexts: BrowserContext[] = [];

  return {
    open: async (): Promise<BrowserContext> => {
      const browser = await browserType.launch({
        ...launchOptions,
        ignoreDefaultArgs: ['--disable-back-forward-cache'],
      });
      const context = await browser.newContext();
      contexts.push(context);
      await guest.watch(context);
      return context;
    },
    /**
     * Goes back to the page before. `page.goBack()` would wait for a load that a cached page has not;
     * for the same reason only `page.evaluate` works on the restored page in Firefox.
     */
    back: async (page: Page): Promise<void> => {
      const left = page.url();
      await page.evaluate(() => void setTimeout(() => history.back(), 0));
      const href = () => page.evaluate(() => location.href).catch(() => left);
      if (!(await until(async () => (await href()) !== left, { within: 20_000 }))) {
        throw new Error(`The page stays at ${left}`);
      }
    },
    close: async (): Promise<void> => {
      for (const context of contexts) {
        await guest.inspect(context);
        await context.browser()?.close();
      }
    },
  };
};
