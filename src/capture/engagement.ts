import { isHidden } from '../client/life.js';
import { memberOf } from '../client/page.js';
import { ask } from './element.js';
import type { Feature } from './feature.js';
import type { Labels } from './types.js';
import type { View } from './views.js';

/** How long a visitor counts as engaged after the last movement, key or scroll. */
const ENGAGED_MS = 30_000;

const hidden = ({ scrollHeight, clientHeight }: Element): number => scrollHeight - clientHeight;

/** The element that scrolls: the root, or `body` or `main` if more of that is out of sight. */
const scroller = (): Element => {
  let found: Element = memberOf(document, 'documentElement');
  for (const one of ask(document, 'querySelectorAll', 'body,main')) {
    if (hidden(one) > hidden(found)) found = one;
  }
  return found;
};

/** How far a page was scrolled, and how long the visitor was there: one event as it is left. */
export const engagement: Feature<Labels> = (tell, _, page) => {
  let view: View;
  let isShown = !isHidden();
  /** The lowest edge of what was seen, in pixels from the top of the page. */
  let lowest = 0;
  /** The percent that the last event of this view reported; -1 before the first one. */
  let told = -1;
  /** Engaged milliseconds that no event has reported yet, rests of earlier views included; below 0 after rounding up. */
  let engaged = 0;
  /** When the visitor last moved, typed or scrolled. */
  let last = performance.now();

  const live = () => {
    const now = performance.now();
    if (isShown) engaged += Math.min(now - last, ENGAGED_MS);
    last = now;
  };
  const look = () => {
    live();
    const { scrollTop, clientHeight } = scroller();
    if (isShown) lowest = Math.max(lowest, scrollTop + clientHeight);
  };
  const leave = () => {
    look();
    const seconds = Math.max(0, Math.round(engaged / 1000));
    const scroll = Math.min(100, Math.round((lowest / scroller().scrollHeight) * 100));
    // No event for a page that was never shown, or if nothing has changed since the last event.
    if (!lowest || (!seconds && scroll <= told)) return;
    tell({ ...view, seconds, scroll });
    engaged -= seconds * 1000;
    told = scroll;
  };
  page.onView((next, from) => {
    if (from) leave();
    else last = performance.now(); // back from the cache, where nobody has seen it
    view = next;
    lowest = 0;
    told = -1;
  });
  page.listen(window, 'pointermove pointerdown keydown', live);
  page.listen(window, 'scroll', look);
  page.onLeave(leave);
  page.listen(document, 'visibilitychange', () => {
    live();
    isShown = !isHidden();
  });
};
