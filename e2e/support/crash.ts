import type { Page } from '@playwright/test';

/** Kills the page's own process: what is left is what the disk has. */
export const crash = async (page: Page): Promise<void> => {
  const crashed = page.waitForEvent('crash');
  const session = await page.context().newCDPSession(page);
  // It never answers.
  void session.send('Page.crash').catch(() => undefined);
  await crashed;
  await page.close();
};
