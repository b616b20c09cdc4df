import { createExposition } from './relay/prometheus.js';

export { createNodeFetch } from './relay/delivery/node-fetch.js';
export type { OnMetric } from './relay/hooks.js';
export type { ServiceAnswer, ServiceFetch, ServiceRequest } from './relay/service-fetch.js';

export interface MetricsOptions {
  /** Begins the name of every metric. @default 'analytics_relay' */
  prefix?: string | undefined;
}

export interface Metrics {
  /** For `createRelay`, `createDelivery`, `createConsumer` and `createService`: their numbers are added up here. */
  onMetric: (name: string, value: number, labels?: Readonly<Record<string, string>>) => void;
  /**
   * Answers GET with the numbers in Prometheus's text format. Mount it where only your own network comes:
   * it asks for no password.
   */
  handler: (request: Request) => Response;
}

/**
 * A relay's numbers for Prometheus, of this process.
 *
 * @example
 * const metrics = createMetrics();
 * const relay = createRelay({ ...options, onMetric: metrics.onMetric });
 * app.get('/metrics', (c) => metrics.handler(c.req.raw));
 */
export const createMetrics = ({ prefix = 'analytics_relay' }: MetricsOptions = {}): Metrics => {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(prefix)) {
    throw new TypeError(
      '`prefix` must be the beginning of a metric name: letters, digits, _ and :',
    );
  }
  const { onMetric, text } = createExposition(prefix);
  return {
    onMetric,
    handler: ({ method }) => {
      if (method !== 'GET' && method !== 'HEAD') {
        return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } });
      }
      const headers = {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'cache-control': 'no-store',
      };
      return new Response(method === 'HEAD' ? null : text(), { headers });
    },
  };
};
