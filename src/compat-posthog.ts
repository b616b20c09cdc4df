export { createPostHog } from './compat/posthog.js';
export { takeOverPostHog } from './compat/take-over-posthog.js';
export type { PostHog } from './compat/posthog.js';
export type * from './compat/target.js';
