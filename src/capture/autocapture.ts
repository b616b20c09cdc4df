import { mayFail } from '../util/may-fail.js';
import { isPrerendering } from '../client/life.js';
import { isLocalHost, isPage, outsideZone } from '../client/page.js';
import { declared } from './declared.js';
import { engagement } from './engagement.js';
import { errors } from './errors.js';
import { createTell, type Feature } from './feature.js';
import { forms } from './forms.js';
import { downloads, outbound } from './links.js';
import { createPage, type Page } from './page.js';
import { pageViews } from './page-views.js';
import type { CaptureKind, CaptureOptions, Capturer, Labels, PageViewLabels } from './types.js';
import { vitals } from './vitals.js';

/** Each feature, and the name of its events. */
export const FEATURES: Record<CaptureKind, readonly [feature: Feature<Labels>, name: string]> = {
  pageviews: [pageViews, 'Page Viewed'],
  clicks: [declared, ''],
  outbound: [outbound, 'Outbound Link Clicked'],
  downloads: [downloads, 'File Downloaded'],
  forms: [forms, 'Form Submitted'],
  vitals: [vitals, 'Web Vitals'],
  engagement: [engagement, 'Page Left'],
  errors: [errors, 'Error Occurred'],
};

/** What ends the capture of each tracker. */
const stops = new WeakMap<Capturer, () => void>();

/**
 * Records what happens on the page by itself. Nothing is observed before consent is granted, or after it is
 * withdrawn. Called again with the same tracker it takes the place of the first call. Returns what ends it.
 * @example autocapture(analytics, { pageviews: true, clicks: true, map: (event) => event })
 */
export const autocapture = (
  analytics: Capturer,
  { map, automated, local, ...asked }: CaptureOptions,
): (() => void) => {
  stops.get(analytics)?.();
  if (!isPage() || (isLocalHost() && !local) || (navigator.webdriver && !automated))
    return () => undefined;

  let page: Page | undefined;
  const begin = () => {
    for (const [key, [feature, name]] of Object.entries(FEATURES)) {
      const kind = key as CaptureKind;
      const given = asked[kind] as Labels | boolean | undefined;
      const labels: Labels = { name, ...(given as Labels) };
      // One that fails, in an old browser or on an odd page, stops no other.
      if (given)
        mayFail(() => feature(createTell(analytics, follow, map, kind, labels), labels, page!));
    }
  };
  const start = () => {
    page = createPage(analytics, (asked.pageviews as PageViewLabels | undefined)?.hash);
    // A page that is prerendered may never be shown.
    if (!isPrerendering()) begin();
    else page.listen(document, 'prerenderingchange', begin);
  };
  const end = () => {
    page?.end();
    page = undefined;
  };
  /** Called at each event, too: a tracker that is stopped tells nobody. */
  const follow = () => {
    const { consent, paused } = analytics.status();
    // Before `init` nobody knows about consent.
    if (consent !== 'granted' || paused === 'not-started') end();
    else if (!page) outsideZone(start);
    return page;
  };

  const unfollow = analytics.on('consent', follow);
  follow();
  const stop = () => {
    unfollow();
    end();
  };
  stops.set(analytics, stop);
  return stop;
};
