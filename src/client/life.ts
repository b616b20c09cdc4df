import { memberOf } from './page.js';

/** The life of the page: when it is hidden, left, and back. */

export const isHidden = (): boolean => memberOf(document, 'visibilityState') === 'hidden';

/** Whether the page is loaded in advance, so that it may never be shown (https://wicg.github.io/nav-speculation/prerendering.html). */
export const isPrerendering = (): boolean =>
  memberOf(document as Document & { prerendering?: boolean }, 'prerendering') === true;

let isAway = false;
/** How often the page was left. */
export let departures = 0;

/**
 * Whether the page has said that it goes away, or has called `window.close()`. In Chromium its requests fail at once
 * after `close`, before `pagehide` comes.
 */
export const isGoing = (): boolean => isAway || globalThis.closed;

/**
 * Resolves with whether the page is being left. A page sees its requests fail as it is left, in Chromium before any
 * event says so. The answer comes in a later task, which a page that is gone never gets to.
 */
export const wasLeft = async (): Promise<boolean> => {
  const before = departures;
  await new Promise((done) => setTimeout(done));
  return isGoing() || departures !== before;
};

interface Handlers {
  /** Called when the page is hidden, or says that it goes away. */
  leave: () => void;
  /** Called when the page is shown, which may have been loaded in advance, hidden, frozen, or in the back/forward cache. */
  back: () => void;
  /** Called when the network is back. */
  online: () => void;
  /** Called when another page has changed this key of localStorage; null if it has cleared all. */
  stored: (key: string | null) => void;
}

/**
 * Follows the page's life. A page that is left gets `pagehide` while it is still visible, then `visibilitychange`. A
 * page that is hidden already gets `pagehide` only. Firefox sometimes skips `pagehide`. Never `unload` or
 * `beforeunload`: they cost the back/forward cache (https://web.dev/articles/bfcache). Returns a function that ends it.
 */
export const followPage = ({ leave, back, online, stored }: Handlers) => {
  isAway = false; // a page that starts a tracker is here
  const show = () => {
    isAway = false;
    back();
  };
  const hide = () => {
    isAway = true;
    departures++;
    leave();
  };
  const all: [EventTarget, string, (event: never) => void][] = [
    [document, 'prerenderingchange', show],
    [document, 'visibilitychange', () => (isHidden() ? leave() : show())],
    [document, 'resume', show],
    [window, 'pagehide', hide],
    // A page that has just loaded is shown, too: it has looked already.
    [window, 'pageshow', ({ persisted }: PageTransitionEvent) => persisted && show()],
    [window, 'online', online],
    [window, 'storage', ({ key }: StorageEvent) => stored(key)],
  ];
  const each = (method: 'addEventListener' | 'removeEventListener') => {
    for (const [target, ...how] of all)
      memberOf(target, method).call(target, ...(how as [string, EventListener]));
  };
  each('addEventListener');
  return () => each('removeEventListener');
};
