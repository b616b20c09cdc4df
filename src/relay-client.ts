import { creatorOf } from './client/analytics.js';
import type { Analytics, CreateAnalytics, RelayOptions } from './client/types.js';

export type {
  Analytics,
  CommonOptions,
  Consent,
  CreateAnalytics,
  DeliveryError,
  DisabledOptions,
  Draft,
  Drop,
  DropReason,
  EventArguments,
  EventBody,
  EventFields,
  EventMap,
  EventName,
  FlushResult,
  IdentifyArguments,
  IdentifyBody,
  Listeners,
  OutboxRecord,
  Outcome,
  RecordType,
  RelayOptions,
  Status,
  StorageKind,
  TagAnalytics,
} from './client/types.js';

/**
 * Makes a tracker that sends through a relay. It does nothing until `init`, and nothing at all on a server or in a
 * worker.
 * @example
 * const analytics = createAnalytics<{ 'Signed Up': { plan: string } }>();
 * analytics.init({ relay: '/a', project, channel });
 * analytics.event('Signed Up', { tags: { plan: 'pro' } });
 */
export const createAnalytics: CreateAnalytics<RelayOptions> = /* @__PURE__ */ creatorOf(undefined);

/** A ready-made instance, as the script tag's global is one. */
export const analytics: Analytics<
  Record<string, object>,
  object,
  RelayOptions
> = /* @__PURE__ */ createAnalytics();
