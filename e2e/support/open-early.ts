import type { Page } from '@playwright/test';

/** Opens a page whose script is on its way: goes on once the stub is there. */
export const openEarly = async (page: Page, address: string): Promise<void> => {
  await page.goto(address, { waitUntil: 'commit' });
  await page.waitForFunction(() => 'analytics' in window);
};
