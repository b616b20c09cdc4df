import { creatorOf, type Way } from './analytics.js';
import { anyForm } from './config/forms.js';
import { createAnySender } from './delivery/any-sender.js';
import type { Analytics, CreateAnalytics, Options } from './types.js';

/** Straight to the service, or through a relay, as the options say. */
export const anyWay: Way = { form: anyForm, createSender: createAnySender };

/**
 * Makes a tracker. Does nothing until `init`, and nothing at all on a server or in a worker.
 * @example
 * const analytics = createAnalytics<{ 'Signed Up': { plan: string } }>();
 * analytics.init({ baseUrl, token, project, channel });
 * analytics.event('Signed Up', { tags: { plan: 'pro' } });
 */
export const createAnalytics: CreateAnalytics<Options> = /* @__PURE__ */ creatorOf(anyWay);

/** A ready-made instance, the same as the script tag's global. */
export const analytics: Analytics = /* @__PURE__ */ createAnalytics();
