import { mayFail } from '../util/may-fail.js';
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

/** Called as a view begins, with the one before if it was another route. What it returns is called when it has a title. */
type Begin = (view: View, from?: View) => (() => void) | void;

/** Routers set the title some time after the address: it is looked for this often. */
const TITLE_MS = 100;
/** Two seconds. */
const LOOKS = 20;

const titleNow = (): string | undefined => memberOf(document, 'title') || undefined;

/**
 * Does work after so long, as the page is left, or by what is returned: whatever comes first. `isTime` says that it was
 * the time.
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
  let settled: ReturnType<Begin>[] = [];
  let view: View;
  /** The title on the page as the last view settled, or that it got later, once that has stayed for a moment. */
  let last: string | undefined;
  /** Whether views of the site have titles of their own. */
  let areOwn = false;
  /** There while the view waits for its title. */
  let settle: (() => void) | undefined;

  const show = (from?: View) => {
    settle?.();
    const next = { path: path() };
    settled = begins.map((begin) => begin(next, from));
    view = next;
    const before = from && titleNow();
    // Some set the title before the address.
    const isEarly = from && before !== last;
    let looks = 0;
    const look = (isTime?: boolean) => {
      let title = titleNow();
      if (isTime && (!title || title === before) && looks++ < LOOKS) {
        settle = later(TITLE_MS, look);
        return;
      }
      // The title may be that of the next route already.
      if (isEarly && !isTime) title = before;
      areOwn ||= !!from && title !== last;
      view.title = from && areOwn && title === last ? undefined : title;
      last = title;
      settle = undefined;
      settled.forEach((tell) => tell?.());
    };
    settle = later(TITLE_MS, look);
  };
  /** What changes the title of a view that has settled does not name the next one, unless that comes at once. */
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
    const changed = (isReplaced?: boolean) => {
      const now = path();
      if (now === view.path) return;
      // A redirect: nobody has seen the view that still waits.
      if (isReplaced && settle) view.path = now;
      else show(view);
    };
    followAddress(listen, onEnd, (isReplaced) => mayFail(() => changed(isReplaced)));
    listen<PageTransitionEvent>(window, 'pageshow', ({ persisted }) => persisted && show());
    onEnd(
      analytics.on('record', ({ type, body }) => {
        if (type !== 'event') return;
        const { session_id, session_number } = (JSON.parse(body) as { tags: View }).tags;
        // Those of the first event stay.
        Object.assign(view, { session_id, session_number, ...view });
      }),
    );
  };

  return {
    /**
     * Calls at once, and with each view that follows: with the one before if that was another route, without it when the
     * page is back from the back/forward cache. Whoever came last is called first: a page is left before the next one is
     * viewed.
     */
    onView: (begin: Begin): void => {
      if (begins.unshift(begin) === 1) follow();
      else settled.push(begin(view));
    },
  };
};
