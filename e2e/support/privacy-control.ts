import type { BrowserContext } from '@playwright/test';

/** Global Privacy Control as a browser has it: on for pages whose address ends in `?gpc`. */
export const givePrivacyControl = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript(() => {
    Object.defineProperty(navigator, 'globalPrivacyControl', {
      get: () => location.search === '?gpc',
    });
  });
