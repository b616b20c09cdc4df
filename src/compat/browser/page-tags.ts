import { memberOf } from '../../client/page.js';

/** The tags of a page view. Query strings may hold what is personal. */
export const pageTags = (): object => ({
  path: location.pathname,
  title: memberOf(document, 'title'),
  referrer: memberOf(document, 'referrer').split('?')[0],
});
