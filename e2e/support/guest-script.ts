/** Where the page keeps the names it began with: a symbol is no name that a page could see. */
export const NAMES_AT_START = 'analytics-outbox.names-at-start';

/** Begins the console lines the guest writes itself. */
export const REJECTION_MARK = '[guest] unhandled rejection:';

/**
 * Runs in each document before any script of its own. It stands alone (its source goes to the
 * browser), and may run twice: Playwright's Firefox does that.
 */
export const guestScript = ({ key, mark }: { key: string; mark: string }): void => {
  const symbol = Symbol.for(key);
  if (symbol in window) return;
  Object.defineProperty(window, symbol, { value: Object.getOwnPropertyNames(window) });
  // The page may replace the console; and an uncaught rejection is not an error in every engine once
  // a listener has prevented its default.
  const say = console.debug.bind(console);
  window.addEventListener('unhandledrejection', ({ reason }: PromiseRejectionEvent) =>
    say(`${mark} ${String(reason)}`),
  );
};
