export { createRelay } from './server/create-relay.js';
export type * from './server/public-types.js';
export type { Relay } from './server/create-relay.js';
export type { DeliveryOptions } from './server/deliver/delivery.js';
export type { UpstreamOptions } from './server/deliver/upstream.js';
export type { RelayOptions } from './server/relay-options.js';
export type { ServiceAnswer, ServiceFetch, ServiceRequest } from './server/deliver/fetch.js';
export type { Token } from './client/types.js';
