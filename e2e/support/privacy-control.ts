import type { BrowserContext } from '@playwright/test';

const KEY = 'analytics-outbox.privacy-control';

/** Global Privacy Control as a browser has it: on for pages whose address ends in `?gpc`, until it is set. */
export const givePrivacyControl = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript((key) => {
    const states = window as unknown as Record<symbol, boolean | undefined>;
    Object.defineProperty(navigator, 'globalPrivacyControl', {
      get: () => states[Symbol.for(key)] ?? location.search === '?gpc',
    });
  }, KEY);
