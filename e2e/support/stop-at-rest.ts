import type { Page } from '@playwright/test';

/** Stops the page while no request is under way: one that is cut off has an unknown end, and is not sent again. */
export const stopAtRest = (page: Page) =>
  page.waitForFunction(() => {
    if (analytics.status().inFlight > 0) return false;
    analytics.stop();
    return true;
  });
