import type { Page } from '@playwright/test';
import { expect } from '@playwright/test';

/** A page that leaves does so within this time. */
const LEAVES_WITHIN_MS = 1_000;

/** Waits until the next attempt is so far ahead that the page can leave before it. The page's waits are steady. */
export const waitForLongPause = (page: Page) =>
  expect
    .poll(() => page.evaluate(() => (analytics.status().nextAttempt ?? 0) - Date.now()), {
      timeout: 20_000,
    })
    .toBeGreaterThan(LEAVES_WITHIN_MS);

/** Calls events and leaves in one task. Answers with why nothing was sent before. */
export const trackAndGoInPause = (page: Page, events: readonly string[], address: string) =>
  page.evaluate(
    ([events, address]) => {
      const { paused } = analytics.status();
      for (const event of events) analytics.event(event);
      location.href = address;
      return paused;
    },
    [events, address] as const,
  );
