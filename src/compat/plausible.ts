import { pageTags, pathOf } from './browser/page-tags.js';
import type { Plausible, PlausibleConfig, PlausibleOptions } from './plausible-types.js';
import type { Target } from './target.js';

/**
 * Plausible's documented function, over an instance.
 * @example createPlausible(analytics)('Signup', { props: { plan: 'pro' } });
 */
export const createPlausible = ({ event }: Pick<Target, 'event'>): Plausible => {
  let custom: PlausibleConfig['customProperties'];
  const plausible = (name: string, options?: PlausibleOptions | null) => {
    const { props, revenue, callback, url } = options ?? {};
    let own = custom;
    try {
      own = (custom as (name: string) => object)(name);
    } catch {
      // An object has the properties itself. A function that fails gives none.
    }
    const isView = name === 'pageview';
    event(isView ? 'Page Viewed' : name, {
      tags: {
        ...(isView && pageTags()),
        ...(url && { path: pathOf(url) }),
        ...own,
        ...props,
        ...revenue,
      },
    });
    // In a task of its own, so that what the page's function throws is the page's error.
    if (callback) setTimeout(callback, 0, { status: 202 });
  };
  return Object.assign(plausible, {
    init: (config?: PlausibleConfig) => void (custom = config?.customProperties),
  });
};
