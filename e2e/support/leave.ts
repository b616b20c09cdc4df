import type { BrowserContext, Page } from '@playwright/test';

/** A page without the tag: nobody there makes good what was not handed off. */
export const BARE = '<!doctype html><meta charset="utf-8"><title>bare</title>';

/** Calls `event` once a name, and leaves for another address, in one task. */
export const trackAndGo = async (
  page: Page,
  events: readonly string[],
  address: string,
): Promise<void> => {
  await page.evaluate(
    ([events, address]) => {
      for (const event of events) analytics.event(event);
      location.href = address;
    },
    [events, address] as const,
  );
  await page.waitForURL(address);
};

/** An image for the body of a page, which keeps the page from its `load` event. */
export const UNLOADED = '<img src="/never.png" alt="">';

/**
 * Lets a page hear as little as in WebKit: one that is left before its `load` event gets `beforeunload` alone.
 * It stands alone, for the start of a page.
 */
export const hearNothingBeforeLoad = (): void => {
  const hear = (event: Event) => {
    if (document.readyState !== 'complete') event.stopImmediatePropagation();
  };
  for (const type of ['pagehide', 'visibilitychange']) addEventListener(type, hear, true);
};

/** Makes all pages to come hear as little. */
export const tellNothingBeforeLoad = (page: Page | BrowserContext): Promise<unknown> =>
  page.addInitScript(hearNothingBeforeLoad);
