import { followAddress } from './address.js';

/** The page as features see it. */
export type Page = ReturnType<typeof createPage>;

/** Listens to some types of events. */
export type Listen = <Heard extends Event>(
  target: EventTarget,
  types: string,
  listener: (event: Heard) => void,
) => void;

/** Follows what happens on the page. With `hasHash`, `#/path` is a part of the path. */
export const createPage = (hasHash: boolean | undefined, userId: () => string | null) => {
  const ends: (() => void)[] = [];
  const onEnd = (end: () => void): void => void ends.push(end);

  /** Listeners come before the page's own, and never throw into the page. */
  const listen: Listen = (target, types, listener) => {
    for (const type of types.split(' ')) {
      const hear = (event: Event) => {
        try {
          listener(event as never);
        } catch {
          // An address that is none, an object that cannot be made a text: there is nothing to record.
        }
      };
      target.addEventListener(type, hear, true);
      onEnd(() => target.removeEventListener(type, hear, true));
    }
  };

  const path = (): string =>
    location.pathname + ((hasHash && /^#!?\/[^?&=]*/.exec(location.hash)?.[0]) || '');
  const routes: ((from?: string) => void)[] = [];
  const followRoutes = () => {
    const show = (from?: string) => routes.forEach((listener) => listener(from));
    let last = path();
    followAddress(listen, onEnd, () => {
      const from = last;
      if (from !== (last = path())) show(from);
    });
    listen<PageTransitionEvent>(window, 'pageshow', ({ persisted }) => persisted && show());
  };

  return {
    /** The path of the address now, without its query. */
    path,
    /** Who is identified now; `null` for nobody. */
    userId,
    listen,
    /** The title of the page now, if it has one. */
    title: (): string | undefined => document.title || undefined,
    /**
     * Calls when another route is shown, with the path of the one that is left; without it when the page is back from
     * the back/forward cache. Whoever came last is called first: a page is left before the next one is viewed.
     */
    onRoute: (listener: (from?: string) => void): void => {
      if (routes.unshift(listener) === 1) followRoutes();
    },
    /**
     * Calls as the page is shown or hidden, which is the last that is certain to be heard of it. In the capturing
     * phase, so that the tracker hands off what is recorded now. On the document, so that `web-vitals`, which
     * listens on the window, has told its last values by then.
     */
    onVisibility: (listener: (isVisible: boolean) => void): void =>
      listen(document, 'visibilitychange', () => listener(isVisible())),
    /** Calls when all of this comes to its end. */
    onEnd,
    end: (): void => ends.splice(0).forEach((end) => end()),
  };
};

export const isVisible = (): boolean => document.visibilityState === 'visible';
