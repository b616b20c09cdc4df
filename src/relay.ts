export { createDelivery } from './relay/delivery.js';
export { createSeenMemory } from './relay/seen-memory.js';
export type { DeliverOptions, Delivery, DeliveryOptions } from './relay/delivery.js';
export type { OnError, OnMetric, RelayError, RelayMetric } from './relay/hooks.js';
export type { Queue, QueuedRecord, Seen, Sighting, Taken } from './relay/ports.js';
export type { SeenMemoryOptions } from './relay/seen-memory.js';
export type { BatchAnswer, BatchRecord, BatchResult, RelayOutcome } from './wire.js';
