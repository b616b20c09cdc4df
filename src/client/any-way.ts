import { creatorOf, type Way } from './analytics.js';
import { anyForm } from './config/forms.js';
import { createDirectSender } from './delivery/direct-sender.js';
import { createRelaySender } from './delivery/relay-sender.js';
import type { Analytics, CreateAnalytics, Options } from './types.js';

/** Sends straight to the service or through a relay, as the options say. */
export const anyWay: Way = {
  form: anyForm,
  createSender: (effects) =>
    (effects.settings().relay ? createRelaySender : createDirectSender)(effects),
};

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
