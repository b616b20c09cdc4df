import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createClickhouseTarget } from '../../../src/server/exports/clickhouse.js';
import { startExport } from '../../../src/server/exports/export.js';
import type { Store } from '../../../src/server/store/port.js';
import { createPostgresStore } from '../../../src/service-postgres.js';
import { blocks, read } from '../../support/docs.js';
import { startClickhouse, type ClickhouseServer } from '../../support/start-clickhouse.mjs';
import { startPostgres, type PostgresServer } from '../../support/start-postgres.mjs';
import { incomingEvent, incomingIdentify } from '../support/incoming.js';

const DAY = 86_400_000;
const SQL = blocks(read('docs/numbers.md'), 'sql');
const of = (engine: string) => SQL.filter((code) => code.startsWith(`-- ${engine}\n`));
const PAIRS = of('Postgres').map((code, n) => [code, of('ClickHouse')[n]!] as const);

// The queries of docs/numbers.md run, and say the same over a database and over its export.
describe('the queries of the docs', { tags: ['ClickHouse', 'Postgres'] }, () => {
  let postgres: PostgresServer;
  let clickhouse: ClickhouseServer;
  let store: Store;
  let client: pg.Client;

  beforeAll(async () => {
    [postgres, clickhouse] = await Promise.all([startPostgres(), startClickhouse()]);
    store = await createPostgresStore({ url: postgres.url });
    client = new pg.Client(postgres.url);
    await client.connect();
    let made = 0;
    const now = Date.now();
    const row = (event: string, user_id: string | undefined, daysAgo: number, more = {}) => {
      const at = new Date(now - daysAgo * DAY).toISOString();
      const late = new Date(Date.parse(at) + (made % 3 ? 500 : 60_000)).toISOString();
      const body = { project: 'shop', event, ...(user_id && { user_id }), ...more };
      return incomingEvent({ id: `${made++}`, calledAt: at, receivedAt: late }, body);
    };
    await store.write([
      ...[row('Signed Up', 'a', 20), row('Paid', 'a', 18, { tags: { total: 12.5 } })],
      ...[row('Signed Up', 'b', 20), row('Paid', 'b', 2, { tags: { total: 7 } })],
      ...[row('Signed Up', 'c', 9), row('Viewed', undefined, 9), row('Viewed', 'c', 40)],
      row('Paid', 'd', 18, { tags: { total: 1 } }),
      row('Paid', 'e', 1, { project: 'blog', tags: { total: 99 } }),
      incomingIdentify({ id: 'i' }, { project: 'shop', user_id: 'a' }),
    ]);
    const target = createClickhouseTarget(clickhouse.url);
    const tell = { error: () => {}, call: () => {}, metric: () => {}, recovery: () => {} };
    const stop = startExport({ store, target, tell });
    await vi.waitFor(
      async () => expect(await clickhouse.query('SELECT count() FROM analytics_rows')).toBe('10'),
      20_000,
    );
    await stop();
  }, 60_000);
  afterAll(async () => {
    await client.end();
    await store.close();
    await Promise.all([postgres.stop(), clickhouse.stop()]);
  });

  it('are five', () => {
    expect(PAIRS).toHaveLength(5);
    expect(of('ClickHouse')).toHaveLength(5);
  });

  it.each(PAIRS)('%s', async (ofPostgres, ofClickhouse) => {
    const { rows } = await client.query({
      text: ofPostgres,
      rowMode: 'array',
      types: { getTypeParser: () => String },
    });
    const there = await clickhouse.query(ofClickhouse);
    expect(there.split('\n').map((line) => line.split('\t'))).toEqual(rows);
    expect(rows.length).toBeGreaterThan(0);
  });

  it('work in Grafana, which puts a condition in place of its macro', async () => {
    const [code] = of('Grafana over Postgres');
    const { rows } = await client.query(code!.replace('$__timeFilter(hour)', 'hour < now()'));
    expect(rows.length).toBeGreaterThan(5);
    expect(rows[0]).toMatchObject({ time: expect.any(Date), metric: expect.any(String) });
  });
});
