import { mayFail } from '../util/may-fail.js';
import { isLoading } from '../client/life.js';
import { memberOf } from '../client/page.js';
import { followAddress, type Listen } from './address.js';
import type { Capturer } from './types.js';

/** What is viewed, as tags: the page, or a route of it. */
export interface View {
  path: string;
  /** Once it has settled. */
  title?: string | undefined;
  /** The session that its first event belonged to, if the context gives events one. */
  session_id?: unknown;
  session_number?: unknown;
}

/** Called when a view begins, with the route before it, if any. Page views return what records the view later. */
type Begin = (view: View, from?: View) => (() => void) | void;

/**
 * Routers set the title some time after the address, and scripts record a view of their own as the page loads: so both
 * are looked for every 100 ms, for two seconds.
 */
const TITLE_MS = 100;
const LOOKS = 20;

const titleNow = (): string | undefined => memberOf(document, 'title') || undefined;

/**
 * Does the work once: after `ms`, when the page is left, or when the returned function is called, whichever is first.
 * `isTime` is true if the time has passed.
 */
export type Later = (ms: number, work: (isTime?: boolean) => void) => () => void;

/** What views need of the page. */
interface Parts {
  listen: Listen;
  later: Later;
  onEnd: (end: () => void) => void;
  path: () => string;
}

/** Follows what is viewed, from the first `onView` on. */
export const createViews = (analytics: Capturer, { listen, later, onEnd, path }: Parts) => {
  const begins: Begin[] = [];
  /** Records the view. It is that of the first `begin`, which is called last; no other returns one. */
  let settled: ReturnType<Begin>;
  let view: View;
  /** The title that the page had when the last view settled; or a later one, once it has stayed for `TITLE_MS`. */
  let last: string | undefined;
  /** Whether views of the site have titles of their own. */
  let areOwn = false;
  /** Settles the view now; undefined unless it waits for its title. */
  let settle: (() => void) | undefined;

  const show = (from?: View) => {
    settle?.();
    const next = { path: path() };
    for (const begin of begins) settled = begin(next, from);
    view = next;
    const before = from && titleNow();
    // Some set the title before the address.
    const isEarly = from && before !== last;
    let looks = 0;
    const look = (isTime?: boolean) => {
      let title = titleNow();
      if (isTime && (isLoading() || !title || title === before) && looks++ < LOOKS) {
        settle = later(TITLE_MS, look);
        return;
      }
      // The title may be that of the next route already.
      if (isEarly && !isTime) title = before;
      areOwn ||= !!from && title !== last;
      view.title = from && areOwn && title === last ? undefined : title;
      last = title;
      settle = undefined;
      settled?.();
    };
    settle = later(TITLE_MS, look);
  };
  /** Takes a title that has changed within a view for that view's, unless the next view begins within `TITLE_MS`. */
  const retitle = () => {
    const titled = view;
    if (settle || titleNow() === last) return;
    later(TITLE_MS, () => {
      if (view === titled) last = titleNow();
    });
  };
  const follow = () => {
    show();
    mayFail(() => {
      const observer = new MutationObserver(retitle);
      const head = memberOf(document, 'head');
      observer.observe(head, { childList: true, subtree: true, characterData: true });
      onEnd(() => observer.disconnect());
    });
    followAddress(listen, onEnd, (isReplaced) =>
      mayFail(() => {
        const now = path();
        if (now === view.path) return;
        // A redirect: nobody has seen the view that still waits.
        if (isReplaced && settle) view.path = now;
        else show(view);
      }),
    );
    listen<PageTransitionEvent>(window, 'pageshow', ({ persisted }) => persisted && show());
    onEnd(
      analytics.on('record', ({ type, body }) => {
        if (type !== 'event') return;
        const { event, tags } = JSON.parse(body) as { event: string; tags: View };
        // The page's own code records the view, as the adapters of other tools do.
        if (event === 'Page Viewed') settled = undefined;
        // Those of the first event stay.
        view.session_id ??= tags.session_id;
        view.session_number ??= tags.session_number;
      }),
    );
  };

  return {
    /**
     * Calls `begin` at once for the present view, and for each later one. When the page is back from the back/forward
     * cache there is no `from`. The latest `begin` is called first, so that a page is left before the next is viewed.
     */
    onView: (begin: Begin): void => {
      if (begins.unshift(begin) === 1) follow();
      else begin(view);
    },
  };
};
