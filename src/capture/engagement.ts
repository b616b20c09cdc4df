import { isHidden } from '../client/life.js';
import { memberOf } from '../client/page.js';
import { ask } from './element.js';
import type { Feature } from './feature.js';
import type { Labels } from './types.js';
import type { View } from './views.js';

/** So long after the last sign of life a visitor counts as engaged. */
const ENGAGED_MS = 30_000;

const hidden = ({ scrollHeight, clientHeight }: Element): number => scrollHeight - clientHeight;

/** What scrolls the page: the page itself, or its `body` or `main` if more of that is hidden. */
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
  /** How far it was scrolled as the last event told. */
  let told = -1;
  /** Milliseconds that no event has told yet, of this view or of those before; below 0 if one has rounded up. */
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
    const { scrollTop, clientHeight } = scroller();
    if (isShown) lowest = Math.max(lowest, scrollTop + clientHeight);
  };
  const leave = () => {
    look();
    const seconds = Math.max(0, Math.round(engaged / 1000));
    const scroll = Math.min(100, Math.round((lowest / scroller().scrollHeight) * 100));
    // A page that was never shown, or a look that adds nothing, makes no event.
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
