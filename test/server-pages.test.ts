import * as client from 'prom-client';
import { describe, expect, it } from 'vitest';
import { makeTables, PAGES } from '../scripts/write-options.mjs';
import { OPTIONS, rangesOf } from '../src/client/options.js';
import { SETTINGS } from '../src/program/settings-table.js';
import { createMetrics } from '../src/relay-node.js';
import { OPENAPI } from '../src/server/openapi.js';
import { runService, TOKEN } from './server/support/run-service.js';
import { requestOf } from './support/curl.js';
import { blocks, declared, read, tableUnder } from './support/docs.js';

const SOURCES = { settings: SETTINGS, options: Object.keys(OPTIONS), ranges: rangesOf({}) };

it.each(PAGES)(
  'the tables of %s are as `node scripts/write-options.mjs` makes them',
  async (name) => {
    const page = read(name);
    expect(page).toMatch(/^<!-- (settings|options|attributes|fields): .+ -->\n\n[|]/m);
    expect(await makeTables(page, SOURCES)).toBe(page);
  },
);

it('every setting is in a table', () => {
  const page = read('docs/server-options.md');
  for (const name of Object.keys(SETTINGS)) expect(page).toContain(`| \`${name}\` `);
});

it('the table of metrics has each that Prometheus gets, with its labels', async () => {
  const text = declared('src/server/hooks.ts', 'ServerMetric').getText();
  const names = [...text.matchAll(/\| '(\w+)'/g)].map(([, name]) => name!);
  const { onMetric, registry } = createMetrics({ client, registry: new client.Registry() });
  const labelsOf = (cell: string) => cell.split(', ').filter(Boolean);
  const rows = tableUnder(read('docs/server-answers.md'), 'Metrics');
  const labels = Object.fromEntries(
    rows.flatMap(([, cell]) => labelsOf(cell!)).map((name) => [name, 'x']),
  );
  for (const name of names) onMetric(name, 1, labels);
  const metrics = await registry.getMetricsAsJSON();
  const told = metrics.map(({ name, values }) => {
    const known = values.flatMap((value) => Object.keys(value.labels));
    return [name, [...new Set(known)].filter((label) => label !== 'le').sort()];
  });
  expect(rows.map(([name, cell]) => [name, labelsOf(cell!).sort()]).sort()).toEqual(told.sort());
});

/** Whether the server has the operation of a request. */
const hasOperation = ([path, { method = '' }]: [string, RequestInit]): boolean => {
  const operations: Record<string, object> = OPENAPI.paths;
  return method.toLowerCase() in operations[path.replace(/[?].*/, '')]!;
};

describe('the server takes the commands of', () => {
  it.each([
    ['send-from-a-server', 1],
    ['one-user', 2],
    ['server-answers', 1],
  ])('docs/%s.md, at least %i', async (name, least) => {
    const { send } = runService();
    const requests = blocks(read(`docs/${name}.md`), 'sh')
      .filter((code) => code.startsWith('curl'))
      .map((command) => requestOf(command, TOKEN))
      .filter(hasOperation);
    expect(requests.length).toBeGreaterThanOrEqual(least);
    for (const [path, init] of requests) {
      const { status } = await send(path, init);
      expect([init.method, path, status]).toEqual([init.method, path, 200]);
    }
  });
});
