import { creatorOf, type Way } from './analytics.js';
import { relayForm } from './config/forms.js';
import { createRelaySender } from './delivery/relay-sender.js';
import type { Analytics, CreateAnalytics, RelayOptions } from './types.js';

/** Sends through a relay, and in no other way. */
export const relayWay: Way = { form: relayForm, createSender: createRelaySender };

/**
 * Makes a tracker that sends through a relay. Does nothing until `init`, and nothing at all on a server or
 * in a worker.
 * @example
 * const analytics = createAnalytics<{ 'Signed Up': { plan: string } }>();
 * analytics.init({ relay: '/a', project, channel });
 * analytics.event('Signed Up', { tags: { plan: 'pro' } });
 */
export const createAnalytics: CreateAnalytics<RelayOptions> = /* @__PURE__ */ creatorOf(relayWay);

/** A ready-made instance, the same as the script tag's global. */
export const analytics: Analytics<
  Record<string, object>,
  object,
  RelayOptions
> = /* @__PURE__ */ createAnalytics();
