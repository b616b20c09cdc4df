import type { Analytics } from '../src/client/types.js';

declare global {
  /** On every page with the tag. */
  var analytics: Analytics;
}
