export { createMetrics } from './relay/metrics.js';
export type { Metrics, MetricsOptions, MetricsRegistry, PromClient } from './relay/metrics.js';
export { createNodeFetch } from './relay/delivery/node-fetch.js';
export type { OnMetric } from './relay/hooks.js';
export type { ServiceAnswer, ServiceFetch, ServiceRequest } from './relay/delivery/fetch.js';
