import type { Page } from '@playwright/test';

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

/** A tab that may close itself. */
export const openPopup = async (page: Page, address: string): Promise<Page> => {
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.evaluate((address) => void window.open(address), address),
  ]);
  await popup.waitForLoadState();
  return popup;
};

/** Calls `event` once a name, each of about so many bytes, and closes the tab, in one task. */
export const trackAndClose = async (
  popup: Page,
  events: readonly string[],
  bytes = 0,
): Promise<void> => {
  const closed = popup.waitForEvent('close');
  await popup
    .evaluate(
      ([events, fields]) => {
        for (const event of events) analytics.event(event, fields);
        window.close();
      },
      [events, fieldsOf(bytes)] as const,
    )
    .catch(() => undefined); // it may be gone before it answers
  await closed;
};

const fieldsOf = (bytes: number) => (bytes ? { description: 'x'.repeat(bytes) } : {});
