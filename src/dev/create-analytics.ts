import { creatorOf, type Tell } from '../client/analytics.js';
import type { createDirectSend } from '../client/delivery/send/direct.js';
import { isPage } from '../client/page.js';
import type { Analytics, CreateAnalytics, DisabledOptions, EventMap } from '../client/types.js';
import { mayFail } from '../util/may-fail.js';
import { createDeveloper } from './developer.js';
import { watchMethods } from './methods.js';
import { offerInspector } from './offer-inspector.js';
import { createSay } from './say.js';
import { createWatched, note, ofPage } from './watched.js';

const refuse = (problem: string): never => {
  throw new TypeError(`analytics-outbox: ${problem}`);
};

const loadInspector = () =>
  import('./inspector/open-inspector.js').then(
    ({ openInspector }) => mayFail(openInspector),
    () => undefined,
  );

/** Returns the `createAnalytics` that an entry of the package exports for development. */
export const watchedCreatorOf =
  <Init extends object>(direct: typeof createDirectSend | undefined): CreateAnalytics<Init> =>
  <Events extends EventMap<Events> = Record<string, object>, Traits extends object = object>(
    options?: Init | DisabledOptions,
  ): Analytics<Events, Traits, Init> => {
    const say = createSay();
    const watched = createWatched('analytics-outbox');
    const develop = createDeveloper({ say, refuse });
    const tell: Tell = (what, detail, more) => {
      develop(what, detail, more);
      if (!isPage()) return;
      // Not before the first step: an import has no effects.
      ofPage().watched.add(watched);
      note(watched, what, detail);
      offerInspector(loadInspector);
    };
    const analytics = creatorOf<Init>(direct, tell)<Events, Traits>();
    watched.analytics = analytics;
    watchMethods(analytics, say);
    if (options) analytics.init(options as Init);
    return analytics;
  };
