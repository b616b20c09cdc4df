import { pageTags, pathOf } from './browser/page-tags.js';
import type { Target } from './target.js';
import type { Umami, UmamiProps } from './umami-types.js';

/**
 * Umami's documented calls, over an instance.
 * @example createUmami(analytics).track('signup', { plan: 'pro' });
 */
export const createUmami = ({
  identify,
  event,
  status,
}: Pick<Target, 'identify' | 'event' | 'status'>): Umami => ({
  track: async (what = {}, data) => {
    if (typeof what === 'string') return event(what, { tags: data });
    const { path: url, ...page } = pageTags() as { path: string };
    const given: UmamiProps | null | undefined =
      typeof what === 'function' ? what({ url, ...page }) : { url, ...page, ...what };
    // A function may say so that nothing is to be sent.
    if (!given) return;
    const { name, url: address = url, title, referrer } = given;
    const view = { path: pathOf(address), title, referrer };
    event(name ?? 'Page Viewed', { tags: { ...(!name && view), ...given.data } });
  },
  identify: async (id, data) =>
    typeof id === 'object' ? identify(status().userId!, id) : identify(id, data),
});
