import { createMetrics, type Metrics, type MetricsRegistry } from '../relay-node.js';
import { load } from './load.js';

export type OnNumber = Metrics<MetricsRegistry>['onMetric'];

/** The numbers of a program, for Prometheus. Where no port tells them, nothing is counted. */
export const createProgramMetrics = async (
  adminPort: number | undefined,
): Promise<{ onMetric: OnNumber; handler?: (request: Request) => Promise<Response> }> => {
  if (adminPort === undefined) return { onMetric: () => {} };
  const client = await load('prom-client', () => import('prom-client'));
  return createMetrics({ client });
};
