import { pageProps, pathOf } from './browser/page-tags.js';
import type { Target } from './target.js';

/**
 * What Umami sends of a page, and hands to a function: that is given `hostname`, `language` and `screen`, too. Of these
 * `url`, `title`, `referrer`, `name` and `data` count here.
 */
export interface UmamiProps {
  /** It becomes the tag `path`, without its query. */
  url?: string;
  title?: string;
  referrer?: string;
  /** The name of an event; without it, it is a page view. */
  name?: string;
  /** They become tags. */
  data?: object;
  [more: string]: unknown;
}

/** Umami's documented calls. None throws, and none has to be waited for. */
export interface Umami {
  /** An event, with its data as tags; without a name an event `Page Viewed`. */
  track(
    what?: string | UmamiProps | ((props: UmamiProps) => UmamiProps | null | undefined),
    data?: object,
  ): Promise<void>;
  /** Identifies the user; without an id it is about the identified one. */
  identify(id: string | object, data?: object): Promise<void>;
}

/**
 * Umami's documented calls, over an instance.
 * @example createUmami(analytics).track('signup', { plan: 'pro' });
 */
export const createUmami = (analytics: Pick<Target, 'identify' | 'event' | 'status'>): Umami => ({
  track: async (what = {}, data) => {
    if (typeof what === 'string') return analytics.event(what, { tags: data });
    try {
      const page = pageProps();
      const given: UmamiProps | null | undefined =
        typeof what === 'function' ? what(page) : what?.name ? what : { ...page, ...what };
      const { name = 'Page Viewed', url, title, referrer, data: own } = given!;
      analytics.event(name, {
        tags: { ...(url && { path: pathOf(url) }), title, referrer, ...own },
      });
    } catch {
      // A function may fail, or say by `null` that nothing is to be sent; and a server has no page.
    }
  },
  identify: async (id, data) =>
    typeof id === 'object'
      ? analytics.identify(analytics.status().userId!, id)
      : analytics.identify(id, data),
});
