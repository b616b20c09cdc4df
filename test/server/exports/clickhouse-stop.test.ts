import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createClickhouseTarget } from '../../../src/server/exports/clickhouse.js';
import { startExport } from '../../../src/server/exports/export.js';
import { createTell } from '../../../src/server/hooks.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { tempFolder } from '../../support/temp-folder.js';
import { listen } from '../support/relay.js';
import { incomingEvent } from '../support/incoming.js';

const COLUMNS = [
  'seq\tUInt64',
  ...[
    'id',
    'type',
    'project',
    'channel',
    'event',
    'user_id',
    'body',
    'client',
    'source',
    'cell',
  ].map((name) => `${name}\tString`),
  ...['called_at', 'received_at', 'exported_at'].map((name) => `${name}\tDateTime(\\'UTC\\')`),
  ...['called_at_ms', 'received_at_ms'].map((name) => `${name}\tInt64`),
];
/** What a ClickHouse with an empty table answers to statements with these words. */
const ANSWERS: Readonly<Record<string, string>> = {
  'SELECT version()': '18.16.1',
  'SELECT engine': 'MergeTree',
  DESCRIBE: COLUMNS.join('\n'),
  argMax: '0\t0\t0\t',
  'SELECT count()': '0',
};

it.each([
  ...['SELECT version', 'SELECT engine', 'DESCRIBE', 'INSERT', 'KILL QUERY', 'system.processes'],
  ...['argMax', 'system.mutations', 'ALTER TABLE', 'e1'],
])('breaks off an export at once that waits for the answer to %s', async (words) => {
  let isAsked = false;
  let isBrokenOff = false;
  const port = await listen(async (request, response) => {
    let statement = new URL(request.url!, 'http://host').searchParams.get('query') ?? '';
    for await (const chunk of request) statement += String(chunk);
    if (statement.includes(words)) {
      isAsked = true;
      response.on('close', () => (isBrokenOff = true));
    } else {
      const [, answer = ''] =
        Object.entries(ANSWERS).find(([key]) => statement.includes(key)) ?? [];
      response.end(answer);
    }
  });
  const store = createLibsqlStore({ path: join(tempFolder(), 'rows.db') });
  onTestFinished(() => store.close());
  await store.write([incomingEvent({ id: 'e1' })]);
  await store.erase({ project: 'p', user_id: 'nobody' });
  const errors: unknown[] = [];
  const stop = startExport({
    store,
    target: createClickhouseTarget(`clickhouse://127.0.0.1:${port}/x`),
    tell: createTell({ onError: (error) => void errors.push(error) }),
  });
  await vi.waitFor(() => expect(isAsked).toBe(true));
  await stop();
  // Long before a request ends by itself.
  await vi.waitFor(() => expect(isBrokenOff).toBe(true), { timeout: 20_000 });
  expect(errors).toEqual([]);
});
