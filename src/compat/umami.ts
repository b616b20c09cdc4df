import { pageTags, pathOf } from './browser/page-tags.js';
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
      const { path: url, ...page } = pageTags() as { path: string };
      const given: UmamiProps | null | undefined =
        typeof what === 'function' ? what({ url, ...page }) : { url, ...page, ...what };
      const { name, url: address = url, title, referrer } = given!;
      analytics.event(name ?? 'Page Viewed', {
        tags: { ...(!name && { path: pathOf(address), title, referrer }), ...given!.data },
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
