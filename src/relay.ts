export { createConsumer } from './server/deliver/consumer.js';
export { createDelivery } from './server/deliver/delivery.js';
export { createRelay } from './server/create-relay.js';
export { createSeenMemory } from './server/deliver/seen-memory.js';
export type { Consumer, ConsumerHealth } from './server/deliver/consumer.js';
export type { ConsumerOptions } from './server/deliver/consumer.js';
export type { Undelivered } from './server/deliver/settle.js';
export type { Relay, RelayHealth } from './server/create-relay.js';
export type {
  DeliverableRecord,
  DeliverOptions,
  Delivery,
  DeliveryOptions,
} from './server/deliver/delivery.js';
export type { ServiceHealth } from './server/deliver/backoff.js';
export type {
  Bound,
  Dropped,
  HooksOf,
  OnError,
  OnMetric,
  OnRecovery,
  RelayError,
  RelayMetric,
} from './server/hooks.js';
export type {
  GivenBack,
  Putter,
  Queue,
  QueuedRecord,
  QueueSize,
  Seen,
  Sighting,
  Taken,
} from './server/queue/ports.js';
export type { AdmissionOptions, Rate, RateLimit } from './server/http/admission.js';
export type { ClientOptions } from './server/http/client.js';
export type { Send, SendResult, UpstreamOptions } from './server/deliver/upstream.js';
export type { Names } from './server/records.js';
export type { Origins } from './server/http/answers.js';
export type { Verdict } from './interface/outcome.js';
export type { ClaimedRecord } from './server/records.js';
export type { OnRefused, Refusal } from './server/relay-refusals.js';
export type { RelayOptions } from './server/relay-options.js';
export type { ServiceAnswer, ServiceFetch, ServiceRequest } from './server/deliver/fetch.js';
export type { SeenMemoryOptions } from './server/deliver/seen-memory.js';
export type { Token } from './client/types.js';
export type {
  Batch,
  BatchAnswer,
  BatchRecord,
  BatchResult,
  RelayOutcome,
} from './interface/wire.js';
