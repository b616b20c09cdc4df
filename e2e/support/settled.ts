import type { Page } from '@playwright/test';
import type { Analytics } from '../../src/client/types.js';

/** Whether a page has nothing waiting and nothing in flight. One that is closed has neither. */
export const isSettled = async (page: Page): Promise<boolean> => {
  try {
    return await page.evaluate(() => {
      const { analytics } = window as { analytics?: Partial<Analytics> };
      const status = analytics?.status?.();
      return !status || (status.waiting === 0 && status.inFlight === 0);
    });
  } catch (error) {
    if (page.isClosed()) return true;
    // Between two documents: ask the next one.
    if (/navigation|context was destroyed/i.test(String(error))) return false;
    throw error;
  }
};
