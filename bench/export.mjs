/**
 * What an export to ClickHouse that catches up with many rows costs the records that come meanwhile: batches of 50 over a
 * file, with the export and without it, by turns and in the same run. ClickHouse and the load maker share the machine.
 * Run after the build, where there is a clickhouse-server.
 *
 *     node bench/export.mjs                    a million rows
 *     node bench/export.mjs --rows 200000      fewer of them
 *     node bench/export.mjs --seconds 10 --rounds 3
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { startClickhouse } from '../test/support/start-clickhouse.mjs';
import { nextRecord } from './support/next-record.mjs';
import { startProgram } from './support/start-program.mjs';

const { values: given } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
  },
});
const [ROWS, SECONDS, ROUNDS] = [given.rows, given.seconds, given.rounds].map(Number);
const BATCH = 50;
const ORIGIN = 'https://shop.example';
const folder = mkdtempSync(join(tmpdir(), 'bench-export-'));
const url = `file:${join(folder, 'rows.db')}`;
const path = (name) => fileURLToPath(new URL(name, import.meta.url));

const { createLibsqlStore } = await import('../dist/service-libsql.js');
const store = createLibsqlStore({ path: join(folder, 'rows.db') });
for (let written = 0; written < ROWS; written += 1_000) {
  const at = new Date().toISOString();
  await store.write(
    Array.from({ length: 1_000 }, nextRecord).map((record) => ({
      ...{ ...record, calledAt: at, receivedAt: at, text: JSON.stringify(record.body) },
    })),
  );
}
await store.close();

const clickhouse = await startClickhouse();
const startServer = async (settings) => {
  const server = await startProgram(path('../dist/program.js'), {
    ...{ DATABASE_URL: url, DATA_FOLDER: join(folder, 'data'), READ_TOKEN: 'read-token-of-bench' },
    ...{ HOST: '127.0.0.1', PORT: '0', SITE_ORIGIN: ORIGIN, PROJECTS: 'shop', CHANNELS: 'web' },
    ...{ WRITE_TOKENS: 'shop=write-token', RATE_LIMIT: 'off', CEILING: 'off', ...settings },
  });
  return { ...server, url: new URL(server.url).origin };
};
/** Records a second, while a server is asked as fast as it answers. */
const load = async (server) => {
  const result = await autocannon({
    ...{ url: server.url, method: 'POST', connections: 8, duration: SECONDS },
    requests: [
      {
        setupRequest: (request) => ({
          ...request,
          path: '/a/v1/batch',
          headers: { 'content-type': 'application/json', origin: ORIGIN },
          body: JSON.stringify({
            sent_at: new Date().toISOString(),
            records: Array.from({ length: BATCH }, nextRecord),
          }),
        }),
      },
    ],
  });
  if (result.errors + result.non2xx) console.log('  some requests failed');
  return (result['2xx'] * BATCH) / SECONDS;
};
const median = (all) => [...all].sort((a, b) => a - b)[all.length >> 1];

console.log(`load of the machine before: ${loadavg()[0].toFixed(2)}`);
const found = { without: [], exporting: [], exported: [] };
for (let round = 0; round < ROUNDS; round++) {
  const bare = await startServer({});
  found.without.push(await load(bare));
  await bare.kill();
  const table = `rows_${round}`;
  const server = await startServer({ EXPORT: `${clickhouse.url}?table=${table}` });
  found.exporting.push(await load(server));
  const count = Number(await clickhouse.query(`SELECT count() FROM ${table}`).catch(() => '0'));
  found.exported.push(count / SECONDS);
  if (count >= ROWS) console.log('  the export had caught up: give more rows');
  await server.kill();
}
await clickhouse.stop();
rmSync(folder, { recursive: true, force: true });
const [without, exporting] = [median(found.without), median(found.exporting)];
console.log(`without an export           ${Math.round(without)} records/s`);
console.log(
  `while an export catches up  ${Math.round(exporting)} records/s, ${(exporting / without).toFixed(2)} ×; it writes ${Math.round(median(found.exported))} rows/s`,
);
console.log(`load of the machine after: ${loadavg()[0].toFixed(2)}`);
