import { creatorOf } from '../client/analytics.js';
import type { createDirectSend } from '../client/delivery/send/direct.js';
import type { Analytics, CreateAnalytics, DisabledOptions, EventMap } from '../client/types.js';
import { createDeveloper } from './developer.js';
import { watchMethods } from './methods.js';
import { createSay } from './say.js';

const refuse = (problem: string): never => {
  throw new TypeError(`analytics-outbox: ${problem}`);
};

/** Returns the `createAnalytics` that an entry of the package exports for development. */
export const watchedCreatorOf =
  <Init extends object>(direct: typeof createDirectSend | undefined): CreateAnalytics<Init> =>
  <Events extends EventMap<Events> = Record<string, object>, Traits extends object = object>(
    options?: Init | DisabledOptions,
  ): Analytics<Events, Traits, Init> => {
    const say = createSay();
    const tell = createDeveloper({ say, refuse, mayBeDirect: !!direct });
    const analytics = creatorOf<Init>(direct, tell)<Events, Traits>();
    watchMethods(analytics, say);
    if (options) analytics.init(options as Init);
    return analytics;
  };
