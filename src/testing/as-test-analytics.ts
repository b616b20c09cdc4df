import type { Analytics, EventMap } from '../client/types.js';
import type { TestAnalytics } from './types.js';

/**
 * The same instance, with the types of its event map and with what a test may ask of it: for an instance that the
 * code under test has made with `createAnalytics`, while this module stands in for `analytics-outbox`.
 * @throws TypeError where it is a real instance.
 * @example asTestAnalytics(analytics).events('Signed Up')
 */
export const asTestAnalytics = <Events extends EventMap<Events>, Traits extends object>(
  analytics: Analytics<Events, Traits>,
): TestAnalytics<Events, Traits> => {
  if (!('calls' in analytics)) {
    throw new TypeError(
      "this instance records nothing: mock the module first, with vi.mock('analytics-outbox', () => import('analytics-outbox/testing'))",
    );
  }
  return analytics as TestAnalytics<Events, Traits>;
};
