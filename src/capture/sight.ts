import { ask } from './element.js';
import type { Page } from './page.js';

/** A page that changes all the time is looked through again this often at the most. */
const AGAIN_MS = 200;

/** Calls when an element that fits is seen for the first time, also one that is added later. */
export const onSight = (page: Page, selector: string, seen: (element: Element) => void): void => {
  const known = new WeakSet<Element>();
  const sights = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || known.has(target)) continue;
      known.add(target);
      seen(target);
    }
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    timer = undefined;
    // To observe an element again does nothing.
    const found = ask(document, 'querySelectorAll', selector);
    found.forEach((element) => sights.observe(element));
  };
  look();
  const changes = new MutationObserver(() => {
    timer ??= setTimeout(look, AGAIN_MS);
  });
  changes.observe(document, { childList: true, subtree: true });
  page.onEnd(() => {
    clearTimeout(timer);
    sights.disconnect();
    changes.disconnect();
  });
};
