import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createClickhouseTarget } from '../../../src/server/exports/clickhouse.js';
import { startExport } from '../../../src/server/exports/export.js';
import type { Store } from '../../../src/server/store/port.js';
import { createTell } from '../../../src/server/hooks.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { createPostgresStore } from '../../../src/service-postgres.js';
import { blocks, read } from '../../support/docs.js';
import { startClickhouse, type ClickhouseServer } from '../../support/start-clickhouse.mjs';
import { startPostgres, type PostgresServer } from '../../support/start-postgres.mjs';
import { incomingEvent, incomingIdentify } from '../support/incoming.js';

const DAY = 86_400_000;
const PAGE = read('docs/numbers.md');
const SQL = blocks(PAGE, 'sql');
const of = (engine: string) => SQL.filter((code) => code.startsWith(`-- ${engine}\n`));
/** Each question of the page, with its query for each engine. */
const QUESTIONS = [...PAGE.matchAll(/^## (.+\?)$([^]*?)(?=^## )/gm)].map(
  ([, question, section]) => [question!, blocks(section!, 'sql')] as const,
);
const VIEW = { project: 'shop', event: 'Page Viewed' };
const HOME = { path: '/', host: 'shop.example' };

// The queries of docs/numbers.md run, and say the same over each database and over an export.
describe('the queries of the docs', { tags: ['ClickHouse', 'Postgres'] }, () => {
  let postgres: PostgresServer;
  let clickhouse: ClickhouseServer;
  let stores: Store[];
  let folder: string;
  let file: Database.Database;
  let client: pg.Client;

  beforeAll(async () => {
    [postgres, clickhouse] = await Promise.all([startPostgres(), startClickhouse()]);
    folder = mkdtempSync(join(tmpdir(), 'numbers-'));
    const path = join(folder, 'rows.db');
    const store = await createPostgresStore({ url: postgres.url });
    stores = [store, createLibsqlStore({ path })];
    let made = 0;
    const now = Date.now();
    const row = (event: string, user_id: string | undefined, daysAgo: number, more = {}) => {
      const at = new Date(now - daysAgo * DAY).toISOString();
      const late = new Date(Date.parse(at) + (made % 3 ? 500 : 60_000)).toISOString();
      const body = { project: 'shop', event, ...(user_id && { user_id }), ...more };
      return incomingEvent({ id: `${made++}`, calledAt: at, receivedAt: late }, body);
    };
    const view = (daysAgo: number, tags = {}) =>
      row('Page Viewed', undefined, daysAgo, { ...VIEW, tags: { ...HOME, ...tags } });
    const rows = [
      ...[row('Signed Up', 'a', 20), row('Paid', 'a', 18, { tags: { total: 12.5 } })],
      ...[row('Signed Up', 'b', 20), row('Paid', 'b', 2, { tags: { total: 7 } })],
      ...[row('Signed Up', 'c', 9), row('Viewed', undefined, 9), row('Viewed', 'c', 40)],
      row('Paid', 'd', 18, { tags: { total: 1 } }),
      row('Paid', 'e', 1, { project: 'blog', tags: { total: 99 } }),
      ...[view(40), view(29.9, { path: '/prices' }), view(1), view(1, { path: '/"ä"' })],
      ...[view(2, { referrer: 'https://search.example/' }), view(3, { utm_source: 'mail' })],
      view(1, { path: '/prices', referrer: 'https://shop.example/' }),
      view(2, { referrer: 'https://news.example/', utm_source: 'news', utm_campaign: 'may' }),
      view(1, { path: '/prices', utm_source: 'news', utm_campaign: 'may' }),
      incomingIdentify({ id: 'i' }, { project: 'shop', user_id: 'a' }),
    ];
    await Promise.all(stores.map((one) => one.write(rows)));
    const target = createClickhouseTarget(clickhouse.url);
    const stop = startExport({ store, target, tell: createTell({}) });
    await vi.waitFor(
      async () =>
        expect(await clickhouse.query('SELECT count() FROM analytics_rows')).toBe(`${rows.length}`),
      20_000,
    );
    await stop();
    // As the docs tell to read: a copy, and a role that only reads.
    const writer = new Database(path);
    const copy = join(folder, 'numbers.db');
    const [, vacuum] = /`sqlite3 rows\.db "(.+?)" &&/.exec(PAGE)!;
    writer.exec(vacuum!.replace('new.db', copy));
    writer.close();
    file = new Database(copy, { readonly: true });
    const owner = new pg.Client(postgres.url);
    await owner.connect();
    await owner.query(of('Role in Postgres')[0]!);
    await owner.end();
    const url = new URL(postgres.url);
    [url.username, url.password] = ['dashboards', 'choose-one'];
    client = new pg.Client(url.href);
    await client.connect();
  }, 60_000);
  afterAll(async () => {
    file.close();
    await client.end();
    await Promise.all(stores.map((store) => store.close()));
    await Promise.all([postgres.stop(), clickhouse.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** A table as text. What a row does not have is empty in ClickHouse. */
  const tableOf = (rows: unknown[][]) => rows.map((row) => row.map((cell) => `${cell ?? ''}`));

  it('answer nine questions, each in each engine', () => {
    expect(QUESTIONS.map(([, queries]) => queries.map((code) => code.split('\n')[0]))).toEqual(
      Array.from({ length: 9 }, () => ['-- SQLite', '-- Postgres', '-- ClickHouse']),
    );
  });

  it.each(QUESTIONS)('%s', async (_, [ofSqlite, ofPostgres, ofClickhouse]) => {
    const { rows } = await client.query<unknown[]>({
      text: ofPostgres!,
      rowMode: 'array',
      types: { getTypeParser: () => String },
    });
    const there = await clickhouse.query(ofClickhouse!);
    const inFile = file.prepare(ofSqlite!).raw().all() as unknown[][];
    expect(rows.length).toBeGreaterThan(0);
    expect(tableOf(inFile)).toEqual(tableOf(rows));
    expect(there.split('\n').map((line) => line.split('\t'))).toEqual(tableOf(rows));
  });

  it('name pages, referrers of other sites and campaigns, the most viewed first', async () => {
    const ask = (n: number) => file.prepare(QUESTIONS[n]![1][0]!).raw().all();
    expect(ask(0)).toEqual([
      ['/', 4],
      ['/prices', 3],
      ['/"ä"', 1],
    ]);
    expect(ask(1)).toEqual([
      ['https://news.example/', 1],
      ['https://search.example/', 1],
    ]);
    expect(ask(2)).toEqual([
      ['news', 'may', 2],
      ['mail', null, 1],
    ]);
  });

  it('are asked by a role that reads what they need and changes nothing', async () => {
    await expect(client.query('DELETE FROM analytics_outbox.records')).rejects.toThrow('denied');
    await expect(client.query('SELECT * FROM analytics_outbox.refused')).rejects.toThrow('denied');
  });

  it('work in Grafana, which puts a condition in place of its macro', async () => {
    const [code] = of('Grafana over Postgres');
    const { rows } = await client.query(code!.replace('$__timeFilter(hour)', 'hour < now()'));
    expect(rows.length).toBeGreaterThan(5);
    expect(rows[0]).toMatchObject({ time: expect.any(Date), metric: expect.any(String) });
  });
});
