import { createDirectSend } from './client/delivery/send/direct.js';
import { watchedCreatorOf } from './dev/create-analytics.js';
import type { Analytics, CreateAnalytics, Options } from './client/types.js';

export const createAnalytics: CreateAnalytics<Options> =
  /* @__PURE__ */ watchedCreatorOf(createDirectSend);
export const analytics: Analytics = /* @__PURE__ */ createAnalytics();
