import { cut } from '../util/cut.js';
import { memberOf } from '../client/page.js';
import type { Feature } from './feature.js';
import { openedWith, parametersOf } from './address.js';
import type { PageViewLabels } from './types.js';
import { withoutQuery } from './without-query.js';

/** The campaign that led here, as the address names it: nothing else of its query is kept. */
const campaign = (address: string): object => {
  const tags: Record<string, string> = {};
  parametersOf(address).forEach((value, name) => {
    if (/^utm_/.test(name)) tags[name] = cut(value);
  });
  return tags;
};

/** Each page that is shown, and each route. */
export const pageViews: Feature<PageViewLabels> = (tell, _, page) => {
  let referrer = withoutQuery(memberOf(document, 'referrer')) || undefined;
  /** Of the first view: a router may have cleaned the address. */
  let opened = openedWith();
  page.onView((view, from) => {
    if (from) referrer = location.origin + from.path;
    const tags = { host: location.host, referrer, ...campaign(opened ?? location.href) };
    opened = undefined;
    const then = page.moment();
    return () => tell({ ...view, ...tags }, then);
  });
};
