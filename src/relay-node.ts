export { createMetrics } from './server/metrics.js';
export type {
  MetricConfig,
  Metrics,
  MetricsOptions,
  MetricsRegistry,
  PromClient,
} from './server/metrics.js';
export { createNodeFetch } from './server/deliver/node-fetch.js';
export type { OnMetric } from './server/hooks.js';
export type { ServiceAnswer, ServiceFetch, ServiceRequest } from './server/deliver/fetch.js';
