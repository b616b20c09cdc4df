import type { Page } from '@playwright/test';
import type { Guest } from './guest.js';
import type { Site } from './site.js';

interface Parts {
  guest: Guest;
  site: Pick<Site, 'page'>;
}

/**
 * A page that imports the package and its context, and sets both up. `parts` is JavaScript: the parts to combine.
 * `setUp` runs twice where `isTwice` says so, as components do in React's StrictMode.
 */
export const contextPage = (
  { guest, site }: Parts,
  options: Record<string, unknown>,
  { parts, head = '', isTwice = false }: { parts: string; head?: string; isTwice?: boolean },
): string => {
  guest.allowGlobals('isReady');
  return site.page(
    '/',
    `<!doctype html><title>A page</title><link rel="icon" href="data:,">
${head}
<script type="module">
  import { analytics } from '/dist/index.js';
  import { anonymousId, anonymousUser, campaign, combine, device, page, session } from '/dist/context.js';
  window.analytics = analytics;
  const setUp = () =>
    analytics.init({ ...${JSON.stringify(options)}, ${/beforeSend/.test(parts) ? '' : 'context: '}${parts} });
  setUp();
  ${isTwice ? 'setUp();' : ''}
  window.isReady = true;
</script>`,
  );
};

/** Opens an address of that page, and waits until it is set up. */
export const openReady = async (page: Page, address: string): Promise<void> => {
  await page.goto(address);
  await page.waitForFunction(() => (globalThis as { isReady?: boolean }).isReady);
};
