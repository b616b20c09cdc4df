import type { Analytics } from '../src/types.js';

declare global {
  /** On every page with the tag. */
  // eslint-disable-next-line no-var
  var analytics: Analytics;
}
