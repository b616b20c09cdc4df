import { mayFail } from '../util/may-fail.js';
import { cut } from '../util/cut.js';
import { isHidden, isLoading, isOnLink } from '../client/life.js';
import type { Listen } from './address.js';
import { ask } from './element.js';
import type { Capturer } from './types.js';
import { createViews, type Later } from './views.js';
import { withoutQuery } from './without-query.js';

/** The page as features see it. */
export type Page = ReturnType<typeof createPage>;

/** Follows what happens on the page. With `hasHash`, `#/path` is a part of the path. */
export const createPage = (analytics: Capturer, hasHash: boolean | undefined) => {
  const ends: (() => void)[] = [];
  const onEnd = (end: () => void): void => void ends.push(end);

  /** Listeners come before the page's own, and never throw into the page. */
  const listen: Listen = (target, types, listener) => {
    const hear = (event: Event) => {
      // An address that is none, an object that cannot be made a text: there is nothing to record.
      mayFail(() => listener(event as never));
    };
    // Elements and shadow trees that the page has thrown away are not held.
    const held = new WeakRef(target);
    const each = (method: 'addEventListener' | 'removeEventListener') => {
      const here = held.deref();
      for (const type of types.split(' ')) if (here) ask(here, method, type, hear, true);
    };
    each('addEventListener');
    const stop = () => each('removeEventListener');
    onEnd(stop);
    return stop;
  };

  const leaves: (() => void)[] = [];
  const leave = () => leaves.forEach(mayFail);
  const hide = () => isHidden() && leave();
  // In the capturing phase, so that the tracker hands off what is recorded now. On the document, so that `web-vitals`,
  // which listens on the window, has told its last values by then.
  listen(document, 'visibilitychange', hide);
  // WebKit is hidden here already.
  listen(window, 'pagehide', hide);

  const waiting = new Set<() => void>();
  leaves.push(() => waiting.forEach((run) => run()));
  onEnd(() => waiting.clear());
  const later: Later = (ms, work) => {
    const run = (isTime?: boolean) => {
      if (waiting.delete(run)) mayFail(() => work(isTime));
    };
    waiting.add(run);
    setTimeout(run, ms, true);
    return run;
  };

  if (isLoading()) {
    // All that WebKit says of a page that is left before it has loaded. It may also stay, as with a download.
    const stop = listen(window, 'beforeunload', leave);
    // On iOS not even that. A listener of the page may still prevent these.
    const stopSigns = listen(window, 'click submit', (event: Event) => {
      if (event.type === 'submit' || isOnLink(event))
        later(0, () => event.defaultPrevented || leave());
    });
    listen(window, 'load', () => (stop(), stopSigns()));
  }

  /** The path of the address now, without its query. */
  const path = (): string =>
    cut(
      withoutQuery(location.pathname) +
        ((hasHash && /^#!?\/[^?&=;]*/.exec(location.hash)?.[0]) || ''),
    );

  const page = {
    path,
    /** Now, and who is identified (`null` for nobody): for an event that is recorded later. */
    moment: () => ({ timestamp: new Date(), userId: analytics.status().userId ?? null }),
    listen,
    later,
    /** Calls as the page is hidden or left: it may be the last that is heard of it, and come more than once. */
    onLeave: (listener: () => void): void => void leaves.push(listener),
    /** Calls when all of this comes to its end. */
    onEnd,
    end: (): void => ends.splice(0).forEach((end) => end()),
  };
  return { ...page, ...createViews(analytics, page) };
};
