import { pageAddress, pageTags, pathOf } from './browser/page-tags.js';
import { callBack } from './call-back.js';
import type {
  Plausible,
  PlausibleConfig,
  PlausibleOptions,
  PlausibleRequest,
} from './plausible-types.js';
import type { Target } from './target.js';

/**
 * Plausible's documented function, over an instance.
 * @example createPlausible(analytics)('Signup', { props: { plan: 'pro' } });
 */
export const createPlausible = ({ event }: Pick<Target, 'event'>): Plausible => {
  let config: PlausibleConfig | undefined;
  const plausible = (name: string, options?: PlausibleOptions | null) => {
    const { props, revenue, callback, url, u = url } = options ?? {};
    const { customProperties: custom, transformRequest } = config ?? {};
    let own = custom;
    try {
      own = (custom as (name: string) => object)(name);
    } catch {
      // An object has the properties itself. A function that fails gives none.
    }
    const page = pageTags();
    const here = pageAddress();
    const given = {
      ...{ n: name, u: u ?? here, r: page?.referrer ?? null },
      ...{ p: { ...own, ...props }, $: revenue },
    };
    let made: PlausibleRequest | null | undefined;
    try {
      made = transformRequest ? transformRequest(given) : given;
      if (made) {
        const { n, u: address, r: referrer, p, $ } = made;
        const isView = n === 'pageview';
        event(isView ? 'Page Viewed' : n, {
          tags: {
            ...(isView && page && { ...page, referrer }),
            ...(address && (isView || address !== here) && { path: pathOf(address) }),
            ...p,
            ...$,
          },
        });
      }
    } catch (error) {
      // What a function that fails would have masked is not sent.
      const toJSON = () => {
        throw error;
      };
      event(name, { toJSON });
    }
    callBack(callback, made ? { status: 202 } : undefined);
  };
  return Object.assign(plausible, {
    init: (given?: PlausibleConfig) => void (config = given),
  });
};
