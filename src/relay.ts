export { createConsumer } from './relay/consumer.js';
export { createDelivery } from './relay/delivery.js';
export { createRelay } from './relay/create-relay.js';
export { createSeenMemory } from './relay/seen-memory.js';
export type { Consumer, ConsumerOptions } from './relay/consumer.js';
export type { Undelivered } from './relay/deliver-round.js';
export type { Relay } from './relay/create-relay.js';
export type { DeliverOptions, Delivery, DeliveryOptions } from './relay/delivery.js';
export type { OnError, OnMetric, RelayError, RelayMetric } from './relay/hooks.js';
export type {
  Putter,
  Queue,
  QueuedRecord,
  QueueSize,
  Seen,
  Sighting,
  Taken,
} from './relay/ports.js';
export type { Rate, RateLimit } from './relay/rate-limit.js';
export type { RelayOptions } from './relay/relay-options.js';
export type { ServiceAnswer, ServiceFetch, ServiceRequest } from './relay/service-fetch.js';
export type { SeenMemoryOptions } from './relay/seen-memory.js';
export type { Token } from './types.js';
export type { Batch, BatchAnswer, BatchRecord, BatchResult, RelayOutcome } from './wire.js';
