import { pageAddress, pageTags, pathOf } from './browser/page-tags.js';
import { callBack } from './call-back.js';
import type { Target } from './target.js';

/** What Plausible takes beside the name of an event. */
export interface PlausibleOptions {
  /** They become tags. */
  props?: object;
  /** They become the tags `amount` and `currency`. */
  revenue?: { amount: number | string; currency: string };
  /**
   * Called at once, as if the service had answered 202: the outbox has the event. Called with nothing where
   * `transformRequest` has dropped it.
   */
  callback?: (result?: { status: number }) => unknown;
  /** The address of the event, which becomes the tag `path`, without its query. @default the page's own, of a view */
  url?: string;
  /** The same. It wins over `url`. */
  u?: string;
  /** Not sent: there is no bounce rate. */
  interactive?: boolean;
}

/** What Plausible would send of an event. What it has beside these is not sent. */
export interface PlausibleRequest {
  /** The name. */
  n: string;
  /** The address. */
  u?: string | undefined;
  /** The referrer, of a view. */
  r?: string | null;
  /** The properties. */
  p?: object;
  /** The revenue. */
  $?: object | undefined;
}

/** What of `plausible.init` counts here. */
export interface PlausibleConfig {
  /** Tags of every event, or a function that makes them. */
  customProperties?: object | ((eventName: string) => object);
  /** Changes each event, or drops it by an answer that is falsy. An event for which it fails is dropped, too. */
  transformRequest?: (request: PlausibleRequest) => PlausibleRequest | null | undefined;
}

/** Plausible's documented function. It does not throw. */
export interface Plausible {
  /** An event. `pageview` becomes `Page Viewed`. */
  (name: string, options?: PlausibleOptions): void;
  init(config?: PlausibleConfig): void;
}

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
