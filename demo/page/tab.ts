import type { Analytics } from '../../src/client/types.js';

/** A page with the tag. What the tag has put there is the stub first, then the tracker. */
export type TabWindow = Window & typeof globalThis & { analytics: Analytics };

// Before the script of the tag comes: the stage gives the options, and hears of the first record.
if (parent !== window) parent.dispatchEvent(new CustomEvent('tab', { detail: window }));
