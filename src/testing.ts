export { analytics, createAnalytics } from './testing/create-analytics.js';
export { asTestAnalytics } from './testing/as-test-analytics.js';
export { collectRows } from './testing/collect-rows.js';
export type { RequestLike, Routable, RouteLike } from './testing/collect-rows.js';
export type * from './testing/types.js';
