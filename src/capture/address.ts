import type { Listen } from './page.js';

/** Calls after each change of the address within this document. */
export const followAddress = (
  listen: Listen,
  onEnd: (end: () => void) => void,
  changed: () => void,
): void => {
  // https://html.spec.whatwg.org/#navigation-api. An element with this id is no such thing.
  const { navigation } = globalThis as { navigation?: EventTarget & { currentEntry?: object } };
  if (navigation?.currentEntry) return listen(navigation, 'currententrychange', changed);

  listen(window, 'popstate hashchange', changed);
  for (const method of ['pushState', 'replaceState'] as const) {
    const original = history[method];
    let isOver = false;
    const own: typeof original = (...args) => {
      original.apply(history, args);
      if (!isOver) changed();
    };
    history[method] = own;
    onEnd(() => {
      isOver = true;
      // Another script may have put its own around it.
      if (history[method] === own) history[method] = original;
    });
  }
};
