import { memberOf } from '../client/page.js';
import type { Part } from './types.js';

/** The page of each event: `path`, `title`, and the `referrer` if there is one. Without queries. */
export const page = (): Part => () => () => ({
  path: location.pathname,
  title: memberOf(document, 'title') || undefined,
  referrer: memberOf(document, 'referrer').replace(/[?#].*/, '') || undefined,
});
