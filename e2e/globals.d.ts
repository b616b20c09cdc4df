import type { Analytics } from '../src/types.js';

declare global {
  /** On every page with the tag. */
  var analytics: Analytics;
}
