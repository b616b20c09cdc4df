import { mayFail } from '../util/may-fail.js';
import { later } from './later.js';
import { memberOf } from './page.js';

/** The life of the page: when it is hidden, left, and back. */

export const isHidden = (): boolean => memberOf(document, 'visibilityState') === 'hidden';

/**
 * Whether the page has not had its `load` event. WebKit tells such a page neither by `pagehide` nor by `visibilitychange`
 * that it is left.
 */
export const isLoading = (): boolean => /^[il]/.test(memberOf(document, 'readyState'));

/**
 * Whether this may be the page's last moment to send: the system may end a hidden page, WebKit does not tell a loading
 * page that it ends, and Chromium breaks off most requests that begin after `window.close()`.
 */
export const isFleeting = (): boolean => isHidden() || isLoading() || globalThis.closed;

/** Whether the page is loaded in advance, so that it may never be shown (https://wicg.github.io/nav-speculation/prerendering.html). */
export const isPrerendering = (): boolean =>
  memberOf(document as Document & { prerendering?: boolean }, 'prerendering') === true;

/** Calls once the page is shown: at once, unless it is prerendered. */
export const whenShown = (work: () => void): void => {
  if (isPrerendering()) document.addEventListener('prerenderingchange', work, { once: true });
  else work();
};

let isAway = false;
/** How often the page was left or came back. */
export let turns = 0;

/**
 * Whether the page has said that it goes away, or has called `window.close()`. In Chromium its requests fail at once
 * after `close`, before `pagehide` comes.
 */
export const isGoing = (): boolean => isAway || globalThis.closed;

/**
 * Resolves with whether the page is being left, or was away since it had made so many `turns`. A page sees its requests
 * fail as it is left, in Chromium before any event says so. The answer comes in a later task, which a page that is gone
 * never gets to.
 */
export const wasLeft = async (since: number): Promise<boolean> => {
  await new Promise<void>((done) => later(done, 0) ?? done());
  return isGoing() || turns !== since;
};

/** A page that is still there this long after a navigation has begun is not left by it. */
const STAY_MS = 5_000;

/** A link whose page takes the place of this one. No other ends what a page has under way in WebKit. */
const LINK = '[href]:not([target],[download],[href^="#"])';

/** Whether a click follows a link, unless a listener prevents it. */
export const isOnLink = ({ target }: Event): unknown =>
  mayFail(() => (target as Element).closest(LINK));

/** What to call when a navigation begins, and what if the page is still there 5 s later. */
const hearers = new Map<(event?: Event) => void, () => void>();
let timer: number | undefined;

const begin = (event?: Event): void => {
  clearTimeout(timer);
  timer = later(() => hearers.forEach((stay) => stay()), STAY_MS);
  hearers.forEach((_, hear) => hear(event)); // also those that are added meanwhile
};

/**
 * Calls `hear` when a navigation begins, and `stay` if the page is still there 5 s later: the address was a download,
 * or has answered 204. Safari on iOS has no `beforeunload` (https://bugs.webkit.org/show_bug.cgi?id=219102), so a
 * followed link and a sent form count as well. They come without an event, since they are less sure: a later listener
 * may prevent them. Returns a function that ends it. To be ended when it is not needed, since a page that listens to
 * `beforeunload` is not kept in the back/forward cache by some browsers (https://web.dev/articles/bfcache).
 */
export const onNavigation = (hear: (event?: Event) => void, stay: () => void): (() => void) => {
  window.addEventListener('beforeunload', begin);
  hearers.set(hear, stay);
  return () => {
    hearers.delete(hear);
    if (!hearers.size) window.removeEventListener('beforeunload', begin);
  };
};

/**
 * Follows the page's life. A page that is left gets `pagehide` while it is still visible, then `visibilitychange`. A
 * page that is hidden already gets `pagehide` only. Firefox sometimes skips `pagehide`. In WebKit a page that has not
 * loaded gets `beforeunload` at most. Never `unload`: it costs the back/forward cache (https://web.dev/articles/bfcache).
 * Returns a function that ends it.
 *
 * @param leave called when the page is hidden, or says that it goes away
 * @param back called when the page is shown, which may have been loaded in advance, hidden, frozen, or in the back/forward
 * cache
 * @param online called when the network is back
 * @param stored called when another page has changed this key of localStorage; null if it has cleared all
 */
export const followPage = (
  leave: () => void,
  back: () => void,
  online: () => void,
  stored: (key: string | null) => void,
) => {
  isAway = false; // a page that starts a tracker is here
  let isGone = false;
  const show = () => {
    if (isAway) turns++;
    isAway = isGone = false;
    back();
  };
  const hide = () => {
    isAway = isGone = true;
    turns++;
    leave();
  };
  const stay = () => isGone && show();
  // A page that only may be left goes on like one that is hidden.
  const loaded = onNavigation((event) => (event ? hide() : leave()), stay);
  if (!isLoading()) loaded();
  const hearSign = (event: Event) => event.defaultPrevented || begin();
  const all: [EventTarget, string, (event: never) => void][] = [
    [document, 'prerenderingchange', show],
    [document, 'visibilitychange', () => (isHidden() ? leave() : show())],
    [document, 'resume', show],
    [window, 'pagehide', hide],
    // Without `persisted`, the page has just loaded, and has looked already.
    [window, 'pageshow', ({ persisted }: PageTransitionEvent) => persisted && show()],
    [window, 'click', (event: Event) => isOnLink(event) && hearSign(event)],
    [window, 'submit', hearSign],
    [window, 'load', () => (loaded(), stay())],
    [window, 'online', online],
    [window, 'storage', ({ key }: StorageEvent) => stored(key)],
  ];
  const each = (method: 'addEventListener' | 'removeEventListener') => {
    all.forEach(([target, ...how]) =>
      memberOf(target, method).call(target, ...(how as [string, EventListener])),
    );
  };
  each('addEventListener');
  return () => {
    loaded();
    each('removeEventListener');
  };
};
