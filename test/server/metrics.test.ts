import * as client from 'prom-client';
import { expect, it } from 'vitest';
import { createMetrics } from '../../src/relay-node.js';

const metricsOf = (prefix?: string) =>
  createMetrics({ client, registry: new client.Registry(), prefix });
type Handler = ReturnType<typeof metricsOf>['handler'];

const get = async (handler: Handler, method = 'GET') => {
  const response = await handler(new Request('http://relay.test/metrics', { method }));
  return { response, lines: (await response.text()).split('\n') };
};

it('adds up what is counted, by label', async () => {
  const { onMetric, handler } = metricsOf();
  onMetric('records', 3, { side: 'in', outcome: 'accepted' });
  onMetric('records', 2, { side: 'in', outcome: 'accepted', later: 'unknown' });
  onMetric('records', 1, { side: 'out', outcome: 'rejected' });
  onMetric('repeats', 4);
  onMetric('unknown', 4);
  const { lines } = await get(handler);
  expect(lines.filter((line) => line && !line.startsWith('#'))).toEqual([
    'analytics_outbox_records_total{side="in",outcome="accepted"} 5',
    'analytics_outbox_records_total{side="out",outcome="rejected"} 1',
    'analytics_outbox_repeats_total 4',
  ]);
});

it('tells of the process as well, unless it has a registry to add to', async () => {
  const { lines } = await get(createMetrics({ client }).handler);
  expect(lines.join('\n')).toContain('nodejs_eventloop_lag_seconds ');
});

it('shows the last value of what goes up and down, ages in seconds', async () => {
  const { onMetric, handler } = metricsOf('shop');
  onMetric('trouble', 1);
  onMetric('trouble', 0);
  onMetric('export_delay_ms', 9_000, { target: 'x' });
  onMetric('export_delay_ms', 1_500, { target: 'x' });
  const { lines } = await get(handler);
  expect(lines).toContain('shop_trouble 0');
  expect(lines).toContain('# TYPE shop_export_delay_seconds gauge');
  expect(lines).toContain('shop_export_delay_seconds{target="x"} 1.5');
});

it('sorts times into buckets that hold the smaller ones, too', async () => {
  const { onMetric, handler } = metricsOf();
  for (const ms of [5, 80, 20_000]) onMetric('upstream_ms', ms, { status: '200' });
  onMetric('upstream_ms', 1, { status: '503' });
  const { lines } = await get(handler);
  const row = (rest: string) => lines.find((line) => line.startsWith(`analytics_outbox_${rest} `));
  const valueOf = (rest: string) => Number(row(rest)?.split(' ').at(-1));
  expect(valueOf('upstream_seconds_bucket{le="0.005",status="200"}')).toBe(1);
  expect(valueOf('upstream_seconds_bucket{le="0.05",status="200"}')).toBe(1);
  expect(valueOf('upstream_seconds_bucket{le="0.1",status="200"}')).toBe(2);
  expect(valueOf('upstream_seconds_bucket{le="10",status="200"}')).toBe(2);
  expect(valueOf('upstream_seconds_bucket{le="+Inf",status="200"}')).toBe(3);
  expect(valueOf('upstream_seconds_count{status="200"}')).toBe(3);
  expect(valueOf('upstream_seconds_sum{status="200"}')).toBeCloseTo(20.085);
  expect(valueOf('upstream_seconds_count{status="503"}')).toBe(1);
});

it('answers as Prometheus asks, and only GET and HEAD', async () => {
  const { onMetric, handler } = metricsOf();
  onMetric('requests', 1);
  const { response } = await get(handler);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect((await get(handler, 'HEAD')).lines).toEqual(['']);
  expect((await get(handler, 'POST')).response.status).toBe(405);
});

it('refuses a prefix that no metric name begins with', () => {
  expect(() => metricsOf('1 a')).toThrow('`prefix`');
});
