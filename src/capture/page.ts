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
  const lists: Record<string, ((event: never) => void)[]> = {};

  /** One listener a type, which comes before the page's own and never throws into the page. */
  const listen: Listen = (target, types, listener) => {
    for (const type of types.split(' ')) {
      const list = (lists[type] ??= []);
      if (list.push(listener) > 1) continue;
      const hear = (event: Event) => {
        for (const each of list) {
          try {
            each(event as never);
          } catch {
            // An address that is none, an object that cannot be made a text: there is nothing to record.
          }
        }
      };
      target.addEventListener(type, hear, true);
      onEnd(() => target.removeEventListener(type, hear, true));
    }
  };

  const path = (): string =>
    location.pathname + ((hasHash && /^#!?\/[^?]*/.exec(location.hash)?.[0]) || '');
  const routes: ((isBack: boolean) => void)[] = [];
  const followRoutes = () => {
    const show = (isBack: boolean) => routes.forEach((listener) => listener(isBack));
    let last = path();
    followAddress(listen, onEnd, () => {
      if (path() === last) return;
      last = path();
      show(false);
    });
    listen<PageTransitionEvent>(window, 'pageshow', ({ persisted }) => persisted && show(true));
  };

  return {
    /** The path of the address now, without its query. */
    path,
    /** Who is identified now; `null` for nobody. */
    userId,
    listen,
    /** Calls when another route is shown, or the page is back from the back/forward cache. */
    onRoute: (listener: (isBack: boolean) => void): void => {
      if (routes.push(listener) === 1) followRoutes();
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
