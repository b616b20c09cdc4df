interface Handlers {
  /** A page that was loaded in advance is shown. */
  onShown: () => void;
  /** The page is hidden, or says that it goes away. */
  onLeave: () => void;
  /** The page may have been frozen or in the back/forward cache. */
  onReturn: () => void;
  /** The network is back. */
  onOnline: () => void;
  /** Another page changed this key of localStorage. */
  onStored: (key: string | null) => void;
}

export const isHidden = (): boolean => document.visibilityState === 'hidden';

/**
 * The page was loaded in advance, and may never be shown
 * (https://wicg.github.io/nav-speculation/prerendering.html).
 */
export const isPrerendering = (): boolean =>
  !!(document as Document & { prerendering?: boolean }).prerendering;

let going = false;
let departures = 0;

/**
 * The page has said that it goes away, or has called `window.close()`: Chromium fails its requests at once
 * then, and fires `pagehide` 15 to 130 ms later (measured).
 */
export const isGoing = (): boolean => going || globalThis.closed;

/**
 * Begins to watch; tells later whether the page has been left meanwhile. Requests of a page that is left fail in
 * its own eyes, though the browser completes those under keepalive. In Chromium they fail before a script hears
 * that the page is left, so the answer comes in a later task. A page that is gone never gets it.
 */
export const watchDeparture = (): (() => Promise<boolean>) => {
  const before = departures;
  return async () => {
    await new Promise((done) => setTimeout(done));
    return departures !== before || globalThis.closed;
  };
};

/**
 * Follows the page's life. Browsers fire `pagehide` first, still visible, then `visibilitychange`; a page
 * already hidden gets `pagehide` only; Firefox sometimes skips it. Never `unload` or `beforeunload`:
 * they cost the back/forward cache (https://web.dev/articles/bfcache). Returns what ends it.
 */
export const followPage = (handlers: Handlers): (() => void) => {
  let wasGoing = false;
  const show = () => {
    going = false;
    if (wasGoing) {
      // Requests that were started after `pagehide` are to hear of a departure, too.
      departures++;
      handlers.onReturn();
    }
    wasGoing = false;
  };
  const change = () => {
    if (isHidden()) handlers.onLeave();
    else show();
  };
  const go = () => {
    going = wasGoing = true;
    departures++;
    handlers.onLeave();
  };
  const hear = ({ key }: StorageEvent) => handlers.onStored(key);
  const all = [
    [document, 'prerenderingchange', handlers.onShown],
    [document, 'visibilitychange', change],
    [document, 'resume', handlers.onReturn],
    [window, 'pagehide', go],
    [window, 'pageshow', show],
    [window, 'online', handlers.onOnline],
    [window, 'storage', hear],
  ] as [EventTarget, string, () => void][];
  const listen = () => all.forEach(([target, ...how]) => target.addEventListener(...how));
  listen();
  // `document.open()` removes all listeners of document and window, and all children of the document, which
  // an observer survives (https://html.spec.whatwg.org/#document-open-steps). A listener that is still there
  // is not added twice.
  const observer = new MutationObserver(listen);
  observer.observe(document, { childList: true });
  return () => {
    observer.disconnect();
    all.forEach(([target, ...how]) => target.removeEventListener(...how));
  };
};

/** True where the browser cannot say. */
export const isOnline = (): boolean => navigator.onLine !== false;

/** False on a server and in a worker, where the tracker does nothing. */
export const isPage = (): boolean => typeof document === 'object';
