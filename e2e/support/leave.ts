import type { BrowserContext, Page } from '@playwright/test';
import type { Site } from './site.js';

/** A page without the tag: nobody there makes good what was not handed off. */
export const BARE = '<!doctype html><meta charset="utf-8"><title>bare</title>';

/** Calls `event` once a name, each of about so many bytes, and leaves for another address, in one task. */
export const trackAndGo = async (
  page: Page,
  events: readonly string[],
  address: string,
  bytes = 0,
): Promise<void> => {
  await page.evaluate(
    ([events, address, fields]) => {
      for (const event of events) analytics.event(event, fields);
      location.href = address;
    },
    [events, address, fieldsOf(bytes)] as const,
  );
  await page.waitForURL(address);
};

const untilTracked = (page: Page) =>
  page.waitForFunction(
    () => 'analytics' in window && Symbol.for('analytics-outbox') in window.analytics,
  );

/** An image for the body of a page, which keeps the page from its `load` event. */
export const UNLOADED = '<img src="/never.png" alt="">';

/** Opens a page with the tag and that image. */
export const openUnloaded = async (
  page: Page,
  site: Pick<Site, 'hold'>,
  address: string,
): Promise<void> => {
  site.hold('/never.png');
  await page.goto(address, { waitUntil: 'commit' });
  await untilTracked(page);
};

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

const fieldsOf = (bytes: number) => (bytes ? { description: 'x'.repeat(bytes) } : {});
