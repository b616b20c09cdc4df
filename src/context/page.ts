import { withoutQuery } from '../capture/without-query.js';
import { memberOf } from '../client/page.js';
import type { Part } from './types.js';

/** The page of each event: `path` (1,000 characters of it), `title`, and the `referrer` if there is one. Without queries. */
export const page =
  (): Part =>
  () =>
  ({ path = location.pathname, title = memberOf(document, 'title') } = {}) => ({
    path: withoutQuery(`${path}`).slice(0, 1e3),
    title: title || undefined,
    referrer: withoutQuery(memberOf(document, 'referrer')) || undefined,
  });
