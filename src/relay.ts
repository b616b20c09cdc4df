export { createConsumer } from './server/deliver/consumer.js';
export { createDelivery } from './server/deliver/delivery.js';
export { createRelay } from './server/create-relay.js';
export type { Consumer, ConsumerHealth, ConsumerOptions } from './server/deliver/consumer.js';
export type { Undelivered } from './server/deliver/hand.js';
export type { StoreTarget } from './server/deliver/targets.js';
export type { Stored } from './server/store-sink.js';
export type { Relay } from './server/create-relay.js';
export type { ServerHealth } from './server/create-server.js';
export type {
  Deliverable,
  DeliverOptions,
  Delivery,
  DeliveryOptions,
} from './server/deliver/delivery.js';
export type { ServiceHealth } from './server/deliver/backoff.js';
export type {
  Bound,
  Dropped,
  Hooks,
  OnError,
  OnMetric,
  OnRecovery,
  ServerError,
  ServerMetric,
} from './server/hooks.js';
export type { Incoming } from './server/incoming.js';
export type {
  GivenBack,
  Placed,
  Put,
  Putter,
  Queue,
  QueuedRecord,
  QueueSize,
  Taken,
} from './server/queue/ports.js';
export type { AdmissionOptions, Rate, RateLimit } from './server/http/admission.js';
export type { ClientOptions } from './server/http/client.js';
export type { IgnoringOptions } from './server/ignoring.js';
export type { Origins } from './server/http/origin.js';
export type { UpstreamOptions } from './server/deliver/upstream.js';
export type { Names } from './server/records.js';
export type { RelayOptions, ServerOptions } from './server/relay-options.js';
export type { ServiceAnswer, ServiceFetch, ServiceRequest } from './server/deliver/fetch.js';
export type { Token } from './client/types.js';
export type { EventBody, IdentifyBody, RecordType } from './interface/bodies.js';
export type {
  Batch,
  BatchAnswer,
  BatchRecord,
  BatchResult,
  RelayOutcome,
} from './interface/wire.js';
