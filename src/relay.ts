export { createConsumer } from './relay/delivery/consumer.js';
export { createDelivery } from './relay/delivery/delivery.js';
export { createRelay } from './relay/front/create-relay.js';
export { createSeenMemory } from './relay/delivery/seen-memory.js';
export type { Consumer, ConsumerHealth } from './relay/delivery/consumer.js';
export type { ConsumerOptions } from './relay/delivery/consumer.js';
export type { Undelivered } from './relay/delivery/settle.js';
export type { Relay, RelayHealth } from './relay/front/create-relay.js';
export type {
  DeliverableRecord,
  DeliverOptions,
  Delivery,
  DeliveryOptions,
} from './relay/delivery/delivery.js';
export type { ServiceHealth } from './relay/delivery/backoff.js';
export type {
  Bound,
  Dropped,
  HooksOf,
  OnError,
  OnMetric,
  OnRecovery,
  RelayError,
  RelayMetric,
} from './relay/hooks.js';
export type {
  GivenBack,
  Putter,
  Queue,
  QueuedRecord,
  QueueSize,
  Seen,
  Sighting,
  Taken,
} from './relay/queue/ports.js';
export type { AdmissionOptions, Rate, RateLimit } from './relay/front/admission.js';
export type { ClientOptions } from './relay/front/client.js';
export type { Send, SendResult, UpstreamOptions } from './relay/delivery/upstream.js';
export type { Names } from './relay/front/records.js';
export type { Origins } from './relay/front/http.js';
export type { Verdict } from './interface/outcome.js';
export type { ClaimedRecord } from './relay/front/records.js';
export type { OnRefused, Refusal } from './relay/front/refusals.js';
export type { RelayOptions } from './relay/front/relay-options.js';
export type { ServiceAnswer, ServiceFetch, ServiceRequest } from './relay/delivery/fetch.js';
export type { SeenMemoryOptions } from './relay/delivery/seen-memory.js';
export type { Token } from './client/types.js';
export type {
  Batch,
  BatchAnswer,
  BatchRecord,
  BatchResult,
  RelayOutcome,
} from './interface/wire.js';
