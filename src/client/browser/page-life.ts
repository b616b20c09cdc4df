interface Handlers {
  /** Called when a page that was prerendered is shown. */
  onShown: () => void;
  /** Called when the page is hidden, or says that it goes away. */
  onLeave: () => void;
  /** Called when the page is back. It may have been frozen or in the back/forward cache. */
  onReturn: () => void;
  /** Called when the network is back. */
  onOnline: () => void;
  /** Called when another page has changed this key of localStorage; null if it has cleared all. */
  onStored: (key: string | null) => void;
}

export const isHidden = (): boolean => document.visibilityState === 'hidden';

/**
 * Whether the page is being prerendered, so that it may never be shown
 * (https://wicg.github.io/nav-speculation/prerendering.html).
 */
export const isPrerendering = (): boolean =>
  !!(document as Document & { prerendering?: boolean }).prerendering;

let going = false;
let departures = 0;

/**
 * Whether the page has said that it goes away, or has called `window.close()`. In Chromium its requests fail at once
 * after `close`, and `pagehide` comes 15 to 130 ms later (measured).
 */
export const isGoing = (): boolean => going || globalThis.closed;

/**
 * Begins to watch the page. The result tells later whether the page has been left meanwhile. When a page is left, it
 * sees its requests fail, although the browser completes those under keepalive. In Chromium it sees that before any
 * event says that it is left. So the result waits for a later task, which a page that is gone never gets to.
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
 * they cost the back/forward cache (https://web.dev/articles/bfcache). Returns a function that ends it.
 */
export const followPage = (handlers: Handlers): (() => void) => {
  let wasGoing = false;
  const show = () => {
    going = false;
    if (wasGoing) {
      // For requests that were started after `pagehide`: they, too, were under way as the page was left.
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

/** Whether the browser is online; true if it cannot tell. */
export const isOnline = (): boolean => navigator.onLine !== false;

/** False on a server and in a worker, where the tracker does nothing. */
export const isPage = (): boolean => typeof document === 'object';
