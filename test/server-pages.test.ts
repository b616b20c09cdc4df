import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as client from 'prom-client';
import { describe, expect, it } from 'vitest';
import { makeTables, PAGES } from '../scripts/write-options.mjs';
import { OPTIONS, rangesOf } from '../src/client/options.js';
import { SETTINGS } from '../src/program/settings-table.js';
import { createMetrics } from '../src/relay-node.js';
import { runService, TOKEN } from './server/support/run-service.js';
import { incomingEvent } from './server/support/incoming.js';
import { ROOT } from './support/compile.js';
import { curlsIn, ODD, requestOf, withOddNames } from './support/curl.js';
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

const PAGES_WITH_COMMANDS = ['README.md', 'demo/README.md']
  .concat(readdirSync(join(ROOT, 'docs'), { encoding: 'utf8' }).map((name) => `docs/${name}`))
  .filter((name) => name.endsWith('.md'))
  .map((name) => [name, blocks(read(name), 'sh').flatMap(curlsIn)] as const)
  .filter(([, commands]) => commands.length);

describe('the server takes the commands', () => {
  const run = () =>
    runService({ relayPath: '/a', origins: (one) => one === 'https://shop.example' });

  it.each(PAGES_WITH_COMMANDS)('of %s', async (_, commands) => {
    const { send } = run();
    for (const command of commands) {
      const { status } = await send(...requestOf(command, TOKEN));
      expect([command, status]).toEqual([command, 200]);
    }
  });

  it.each(PAGES_WITH_COMMANDS)(
    'of %s with names that have each sign of an address in them',
    async (_, commands) => {
      for (const command of commands) {
        const { send, store, rows } = run();
        const names = { project: ODD, channel: ODD, event: ODD, user_id: ODD };
        await store.write([incomingEvent({}, names)]);
        const [path, init] = requestOf(withOddNames(command), TOKEN);
        const response = await send(path, init);
        const answer = await response.text();
        expect([command, response.status, answer]).toEqual([command, 200, answer]);
        if (init.method === 'POST') {
          const [row] = await rows('newest=1&limit=1');
          expect(row).toMatchObject({ seq: 2, project: ODD, channel: ODD, event: ODD });
        } else if (init.method === 'DELETE' || path.startsWith('/counts'))
          expect(answer).toMatch(/"(deleted|rows)":1\b/);
        else expect(answer).toContain(JSON.stringify(ODD));
      }
    },
  );

  it('are ten at least, of five pages', () => {
    expect(PAGES_WITH_COMMANDS.flatMap(([, commands]) => commands).length).toBeGreaterThan(7);
    expect(PAGES_WITH_COMMANDS.length).toBeGreaterThan(4);
  });
});
