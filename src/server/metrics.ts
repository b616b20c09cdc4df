interface Metric {
  /** `counter`: adds up. `gauge`: the last value. `histogram`: how the values are spread. */
  kind: 'counter' | 'gauge' | 'histogram';
  name: string;
  help: string;
  labels: readonly string[];
}

const metric =
  (kind: Metric['kind'], suffix = '') =>
  (name: string, help: string, ...labels: string[]): Metric => ({
    ...{ kind, name: name + suffix, help, labels },
  });
const counter = metric('counter', '_total');
const gauge = metric('gauge');
const histogram = metric('histogram', '_seconds');

/** The metrics by the names that `onMetric` is called with. */
const METRICS: Readonly<Record<string, Metric>> = {
  requests: counter('requests', 'Requests, by what was answered.', 'route', 'status'),
  records: counter('records', 'Records, by what became of them.', 'side', 'outcome'),
  repeats: counter('repeats', 'Records that were known already.'),
  rate_limited: counter(
    'rate_limited',
    'Requests refused because a client, its network or all sent too much.',
    'limit',
  ),
  dropped: counter('dropped', 'What was deleted because there was too much of it.', 'bound'),
  upstream_ms: histogram('upstream', 'Time of one try at the service.', 'status'),
  trouble: gauge('trouble', '1 from a failure until a record passes again.'),
  refused: counter('refused', 'Requests and records that were refused.', 'reason', 'kept'),
  store_ms: histogram('store', 'Time until a write is durable.'),
  reader_behind: gauge('reader_behind', 'Rows that are not summed or merged yet.', 'reader'),
  followers: gauge('followers', 'Pages and tools that follow the rows.'),
  export_behind: gauge('export_behind', 'Rows that are not exported yet.', 'target'),
  export_delay_ms: gauge(
    'export_delay_seconds',
    'How long the oldest row that is not exported has been stored.',
    'target',
  ),
  notified: counter('notified', 'Messages of notifications, by what became of them.', 'outcome'),
  expired: counter('expired', 'Rows and profiles deleted because of their age.'),
};

/** Upper bounds in seconds: a request takes milliseconds, or as long as its timeout. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What a metric is made of. */
export interface MetricConfig<Registry> {
  name: string;
  help: string;
  labelNames: string[];
  registers: Registry[];
}
/** Where prom-client keeps metrics, such as its `register`. */
export interface MetricsRegistry {
  metrics(): Promise<string>;
  contentType: string;
}
/**
 * The part of the package prom-client that is used. Whoever checks the types of libraries (`skipLibCheck: false`) would
 * otherwise have to install prom-client, even without metrics.
 */
export interface PromClient<Registry extends MetricsRegistry> {
  Registry: new () => Registry;
  Counter: new (config: MetricConfig<Registry>) => {
    inc(labels: Record<string, string>, value: number): void;
  };
  Gauge: new (config: MetricConfig<Registry>) => {
    set(labels: Record<string, string>, value: number): void;
  };
  Histogram: new (config: MetricConfig<Registry> & { buckets: number[] }) => {
    observe(labels: Record<string, string>, value: number): void;
  };
  collectDefaultMetrics(options: { register: Registry }): void;
}

export interface MetricsOptions<Registry extends MetricsRegistry> {
  /** The package prom-client: `import * as client from 'prom-client'`. */
  client: PromClient<Registry>;
  /** Where the metrics go. @default a new one, with the process's own metrics (loop lag, heap, handles) */
  registry?: Registry | undefined;
  /** Begins the name of every metric. @default 'analytics_outbox' */
  prefix?: string | undefined;
}

export interface Metrics<Registry extends MetricsRegistry> {
  /** For `createRelay` and `createService`: their numbers are added up here. */
  onMetric: (name: string, value: number, labels?: Readonly<Record<string, string>>) => void;
  /**
   * Answers GET with the numbers in Prometheus's text format. Mount it where only your own network comes:
   * it asks for no password.
   */
  handler: (request: Request) => Promise<Response>;
  registry: Registry;
}

/**
 * The numbers of this process for Prometheus.
 *
 * @example
 * const metrics = createMetrics({ client });
 * const relay = createRelay({ ...options, onMetric: metrics.onMetric });
 * app.get('/metrics', (c) => metrics.handler(c.req.raw));
 */
export const createMetrics = <Registry extends MetricsRegistry>(
  options: MetricsOptions<Registry>,
): Metrics<Registry> => {
  const { client, prefix = 'analytics_outbox', registry = ofProcess(options.client) } = options;
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(prefix)) {
    throw new TypeError(
      '`prefix` must be the beginning of a metric name: letters, digits, _ and :',
    );
  }
  const known = new Map<string, (value: number, labels: Record<string, string>) => void>();

  const create = ({ kind, name, help, labels }: Metric) => {
    const config = {
      ...{ name: `${prefix}_${name}`, help, labelNames: [...labels], registers: [registry] },
    };
    if (kind === 'counter') {
      const made = new client.Counter(config);
      return (value: number, given: Record<string, string>) => made.inc(given, value);
    }
    if (kind === 'gauge') {
      const made = new client.Gauge(config);
      return (value: number, given: Record<string, string>) => made.set(given, value);
    }
    const made = new client.Histogram({ ...config, buckets: BUCKETS });
    return (value: number, given: Record<string, string>) => made.observe(given, value);
  };

  return {
    onMetric: (name, value, labels = {}) => {
      const metric = Object.hasOwn(METRICS, name) && METRICS[name];
      if (!metric) return; // the name is not known here
      const record = known.get(name) ?? create(metric);
      known.set(name, record);
      // prom-client refuses labels that it does not know.
      const names = metric.labels.filter((label) => labels[label] !== undefined);
      const given = Object.fromEntries(names.map((label) => [label, labels[label]!]));
      record(name.endsWith('_ms') ? value / 1_000 : value, given);
    },
    handler: async ({ method }) => {
      if (method !== 'GET' && method !== 'HEAD') {
        return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } });
      }
      const headers = { 'content-type': registry.contentType, 'cache-control': 'no-store' };
      return new Response(method === 'HEAD' ? null : await registry.metrics(), { headers });
    },
    registry,
  };
};

const ofProcess = <Registry extends MetricsRegistry>(client: PromClient<Registry>): Registry => {
  const register = new client.Registry();
  client.collectDefaultMetrics({ register });
  return register;
};
