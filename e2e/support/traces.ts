import type { Page } from '@playwright/test';

/** What the page's site has stored in this browser. */
export const traces = (page: Page) =>
  page.evaluate(async () => ({
    local: { ...localStorage } as Record<string, string>,
    session: { ...sessionStorage } as Record<string, string>,
    databases: (await indexedDB.databases()).map(({ name }) => name),
    cookies: document.cookie,
    caches: await caches.keys(),
  }));

export const NO_TRACE = { local: {}, session: {}, databases: [], cookies: '', caches: [] };
