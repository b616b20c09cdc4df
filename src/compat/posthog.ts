import { pageTags } from './browser/page-tags.js';
import type { PostHog } from './posthog-types.js';
import type { ConsentTarget } from './target.js';

/**
 * PostHog's documented calls, over an instance.
 * @example createPostHog(analytics).capture('signed up', { plan: 'pro' });
 */
export const createPostHog = (analytics: ConsentTarget): PostHog => {
  const { identify, event, reset, setConsent } = analytics;
  let registered: Record<string, unknown> = {};
  const setKnown = (set?: object) => identify(analytics.status().userId!, set);
  const register = (properties: object) => void Object.assign(registered, properties);

  return {
    init: () => undefined,
    capture: (name, properties, options) => {
      const { $set, ...own } = (properties ?? {}) as { $set?: object };
      const isView = name === '$pageview';
      const tags = { ...(isView && pageTags()), ...registered, ...own };
      event(isView ? 'Page Viewed' : name, { tags, timestamp: options?.timestamp });
      if ($set) setKnown($set);
    },
    identify: (id, set) => identify(id, set),
    setPersonProperties: setKnown,
    group: (type, key, properties) => event('Group Joined', { tags: { type, key, ...properties } }),
    register,
    register_once: (properties) => register({ ...properties, ...registered }),
    register_for_session: register,
    unregister: (name) => void delete registered[name],
    reset: () => {
      registered = {};
      reset();
    },
    get_distinct_id: () => analytics.status().userId,
    opt_in_capturing: () => setConsent('granted'),
    opt_out_capturing: () => setConsent('denied'),
    has_opted_in_capturing: () => analytics.status().consent === 'granted',
    has_opted_out_capturing: () => analytics.status().consent === 'denied',
  };
};
