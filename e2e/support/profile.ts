import type { BrowserContext, BrowserType, LaunchOptions } from '@playwright/test';
import { killBrowser } from './browser-process.js';
import type { Guest } from './guest.js';

interface Parts {
  browserType: BrowserType;
  launchOptions: LaunchOptions;
  folder: string;
  guest: Guest;
}

export type Profile = ReturnType<typeof createProfile>;

/** A browser with a profile on disk: what a user has who quits and comes back. */
export const createProfile = ({ browserType, launchOptions, folder, guest }: Parts) => {
  let current: BrowserContext | undefined;

  const close = async (): Promise<void> => {
    if (!current) return;
    const context = current;
    current = undefined;
    await guest.inspect(context);
    await context.close();
  };

  return {
    /** Starts the browser. `context.pages()[0]` is its first, empty tab. */
    open: async (options: LaunchOptions = {}): Promise<BrowserContext> => {
      if (current) throw new Error('The profile is open already');
      current = await browserType.launchPersistentContext(folder, { ...launchOptions, ...options });
      await guest.watch(current);
      return current;
    },
    /** Quits the browser. */
    close,
    /** Kills the browser, all of its processes, this instant. */
    kill: async (): Promise<void> => {
      if (!current) throw new Error('The profile is not open');
      const gone = current.waitForEvent('close', { timeout: 20_000 });
      current = undefined;
      killBrowser(folder);
      await gone;
    },
  };
};
