import type { Evaluates } from './evaluates.js';

/** HTML for the head of a page whose title says how it was last shown. */
export const tellsLastShown = `<script>addEventListener('pageshow', (event) => {
  document.title = event.persisted ? 'restored' : 'loaded';
})</script>`;

/** `restored`: the page came back from the back/forward cache. */
export const lastShown = (page: Evaluates): Promise<string> => page.evaluate(() => document.title);
