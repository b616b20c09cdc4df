import type { Feature } from './feature.js';
import { isVisible } from './page.js';
import type { Labels } from './types.js';

/** So long after the last sign of life a visitor counts as engaged. */
const ENGAGED_MS = 30_000;

/** How far a page was scrolled, and how long the visitor was there: one event as it is left. */
export const engagement: Feature<Labels> = (tell, _, page) => {
  let isShown = isVisible();
  /** The lowest edge of what was seen, in pixels from the top of the page. */
  let lowest = 0;
  let engaged = 0;
  /** When there was the last sign of life. */
  let last = performance.now();

  const live = () => {
    const now = performance.now();
    if (isShown) engaged += Math.min(now - last, ENGAGED_MS);
    last = now;
  };
  const look = () => {
    live();
    lowest = Math.max(lowest, scrollY + innerHeight);
  };
  const leave = (path = page.path()) => {
    if (!isShown) return;
    look();
    const { scrollHeight } = document.documentElement;
    const scroll = Math.min(100, Math.round((lowest / scrollHeight) * 100));
    tell({ path, seconds: Math.round(engaged / 1000), scroll });
    engaged = 0;
  };
  page.listen(window, 'pointermove pointerdown keydown', live);
  page.listen(window, 'scroll', look);
  page.onVisibility((isVisible) => {
    if (isVisible) live();
    else leave();
    isShown = isVisible;
  });
  page.onRoute((from) => {
    // As it went into the cache it was left already.
    if (from) leave(from);
    lowest = 0;
  });
};
