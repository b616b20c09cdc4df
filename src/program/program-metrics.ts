import { createMetrics, type Metrics, type MetricsRegistry } from '../relay-node.js';
import { load } from './store.js';

export type OnNumber = Metrics<MetricsRegistry>['onMetric'];

/** The numbers of a program, for Prometheus. Where no port tells them, nothing is counted. */
export const createProgramMetrics = async (adminPort: number | undefined) => {
  const none: OnNumber = () => {};
  if (adminPort === undefined) return { ofRelay: none, ofService: none, handler: undefined };
  const client = await load('prom-client', () => import('prom-client'));
  const ofRelay = createMetrics({ client });
  const ofService = createMetrics({
    ...{ client, prefix: 'analytics_service', registry: ofRelay.registry },
  });
  return {
    ofRelay: ofRelay.onMetric as OnNumber,
    ofService: ofService.onMetric as OnNumber,
    handler: ofRelay.handler,
  };
};
