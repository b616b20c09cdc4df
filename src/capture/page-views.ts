import type { Feature } from './feature.js';
import type { PageViewLabels } from './types.js';
import { withoutQuery } from './without-query.js';

/** Routers set the title some time after the address. */
const TITLE_MS = 100;

/** The campaign that led here, as the address names it: nothing else of its query is kept. */
const campaign = (): object =>
  Object.fromEntries(
    [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith('utm_')),
  );

/** Each page that is shown, and each route. */
export const pageViews: Feature<PageViewLabels> = (tell, _, page) => {
  let referrer = withoutQuery(document.referrer) || undefined;
  let waiting: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const settle = () => {
    clearTimeout(timer);
    waiting?.();
    waiting = undefined;
  };
  const view = () => {
    settle();
    const tags = { path: page.path(), host: location.host, referrer, ...campaign() };
    const then = { timestamp: new Date(), userId: page.userId() };
    waiting = () => tell({ ...tags, title: page.title() }, then);
    timer = setTimeout(settle, TITLE_MS);
  };
  view();
  page.onRoute((from) => {
    if (from) referrer = location.origin + from;
    view();
  });
  page.onVisibility(settle);
  page.onEnd(() => clearTimeout(timer));
};
