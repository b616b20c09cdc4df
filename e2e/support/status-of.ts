import type { Status } from '../../src/client/types.js';
import type { Evaluates } from './evaluates.js';

/** What the page's tracker says of itself. */
export const statusOf = (page: Evaluates): Promise<Status> =>
  page.evaluate(() => analytics.status());
