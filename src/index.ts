import { creatorOf } from './client/analytics.js';
import { createDirectSend } from './client/delivery/send/direct.js';
import type { Analytics, CreateAnalytics, Options } from './client/types.js';

export type * from './relay-client.js';
export type { DirectOptions, Options, Token } from './client/types.js';

/**
 * Makes a tracker. It does nothing until `init`, and nothing at all on a server or in a worker.
 * @example
 * const analytics = createAnalytics<{ 'Signed Up': { plan: string } }>();
 * analytics.init({ baseUrl, token, project, channel });
 * analytics.event('Signed Up', { tags: { plan: 'pro' } });
 */
export const createAnalytics: CreateAnalytics<Options> =
  /* @__PURE__ */ creatorOf(createDirectSend);

/** A ready-made instance, as the script tag's global is one. */
export const analytics: Analytics = /* @__PURE__ */ createAnalytics();
