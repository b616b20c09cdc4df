import type { OnMetric } from './hooks.js';

interface Metric {
  kind: 'counter' | 'gauge' | 'histogram' | 'age';
  name: string;
  help: string;
}

/** `counter`: adds up. `gauge`: the last value. `histogram`: milliseconds, shown as seconds. */
const METRICS: Record<Parameters<OnMetric>[0], Metric> = {
  requests: { kind: 'counter', name: 'requests_total', help: 'Requests to the relay.' },
  records: {
    kind: 'counter',
    name: 'records_total',
    help: 'Records taken in and sent out, by what became of them.',
  },
  seen_hits: { kind: 'counter', name: 'seen_hits_total', help: 'Records that were known already.' },
  rate_limited: {
    kind: 'counter',
    name: 'rate_limited_total',
    help: 'Requests refused, because a client, its network or all sent too much.',
  },
  dropped: {
    kind: 'counter',
    name: 'dropped_total',
    help: 'Dead letters and ids that were deleted because there were too many, by the setting.',
  },
  upstream_ms: {
    kind: 'histogram',
    name: 'upstream_seconds',
    help: 'Time of one try at the service.',
  },
  queue_put_ms: {
    kind: 'histogram',
    name: 'queue_put_seconds',
    help: 'Time until a batch is durable.',
  },
  trouble: {
    kind: 'gauge',
    name: 'trouble',
    help: '1 from a failure of the service until it takes a record again.',
  },
  queue_waiting: { kind: 'gauge', name: 'queue_waiting', help: 'Records that wait in the queue.' },
  queue_dead: { kind: 'gauge', name: 'queue_dead', help: 'Dead letters in the queue.' },
  queue_oldest_ms: {
    kind: 'age',
    name: 'queue_oldest_seconds',
    help: 'How long the oldest record has waited in the queue.',
  },
};

/** What a service beside the relay tells beyond that. */
const OF_SERVICE: Record<string, Metric> = {
  refused: {
    kind: 'counter',
    name: 'refused_total',
    help: 'Requests and records that were refused, and whether they can be read later.',
  },
  store_ms: { kind: 'histogram', name: 'store_seconds', help: 'Time until a write is durable.' },
  followers: { kind: 'gauge', name: 'followers', help: 'Pages and tools that follow the rows.' },
  expired: { kind: 'counter', name: 'expired_total', help: 'Rows deleted because of their age.' },
};
const ALL: Readonly<Record<string, Metric>> = { ...METRICS, ...OF_SERVICE };

/** Upper bounds in seconds: a try takes milliseconds, or as long as its timeout. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Series {
  value: number;
  /** Of a histogram: how many values were at or below each bound, and how many there were. */
  under: number[];
  count: number;
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/#comments-help-text-and-type-information */
const escape = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
const labelText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escape(value)}"`)
    .join(',');
const withLabels = (name: string, ...labels: string[]): string => {
  const all = labels.filter(Boolean).join(',');
  return all ? `${name}{${all}}` : name;
};

/** Adds up a relay's numbers and writes them down as Prometheus reads them. */
export const createExposition = (prefix: string) => {
  const series = new Map<string, Map<string, Series>>();

  const seriesOf = (name: string, labels: string): Series => {
    const known = series.get(name) ?? new Map<string, Series>();
    series.set(name, known);
    const one = known.get(labels) ?? { value: 0, under: BOUNDS.map(() => 0), count: 0 };
    known.set(labels, one);
    return one;
  };

  const observe = (one: Series, seconds: number): void => {
    one.value += seconds;
    one.count++;
    BOUNDS.forEach((bound, i) => {
      if (seconds <= bound) one.under[i]!++;
    });
  };

  const onMetric = (
    name: string,
    value: number,
    labels: Readonly<Record<string, string>> = {},
  ): void => {
    const metric = ALL[name];
    if (!metric) return; // of a newer relay
    const one = seriesOf(name, labelText(labels));
    if (metric.kind === 'histogram') observe(one, value / 1_000);
    else if (metric.kind === 'counter') one.value += value;
    else one.value = metric.kind === 'age' ? value / 1_000 : value;
  };

  const linesOf = (name: string, known: Map<string, Series>): string[] => {
    const { kind, help, name: shown } = ALL[name]!;
    const full = `${prefix}_${shown}`;
    const head = [`# HELP ${full} ${help}`, `# TYPE ${full} ${kind === 'age' ? 'gauge' : kind}`];
    const rows = [...known].flatMap(([labels, { value, under, count }]) => {
      if (kind !== 'histogram') return [`${withLabels(full, labels)} ${value}`];
      const buckets = BOUNDS.map(
        (bound, i) => `${withLabels(`${full}_bucket`, labels, `le="${bound}"`)} ${under[i]}`,
      );
      return [
        ...buckets,
        `${withLabels(`${full}_bucket`, labels, 'le="+Inf"')} ${count}`,
        `${withLabels(`${full}_sum`, labels)} ${value}`,
        `${withLabels(`${full}_count`, labels)} ${count}`,
      ];
    });
    return [...head, ...rows];
  };

  return {
    onMetric,
    text: (): string =>
      [...series]
        .flatMap(([name, known]) => linesOf(name, known))
        .map((line) => `${line}\n`)
        .join(''),
  };
};
