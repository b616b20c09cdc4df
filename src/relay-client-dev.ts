import { watchedCreatorOf } from './dev/create-analytics.js';
import type { Analytics, CreateAnalytics, RelayOptions } from './client/types.js';

export const createAnalytics: CreateAnalytics<RelayOptions> =
  /* @__PURE__ */ watchedCreatorOf(undefined);
export const analytics: Analytics<
  Record<string, object>,
  object,
  RelayOptions
> = /* @__PURE__ */ createAnalytics();
