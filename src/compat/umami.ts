import { pageProps } from './browser/page-props.js';
import { pathOf } from './browser/page-tags.js';
import type { Target } from './target.js';
import type { Umami, UmamiProps } from './umami-types.js';

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
