import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTell } from '../../../src/server/hooks.js';
import { createClickhouseTarget } from '../../../src/server/exports/clickhouse.js';
import { startExport } from '../../../src/server/exports/export.js';
import { verify } from '../../../src/server/exports/verify.js';
import type { Store } from '../../../src/server/store/port.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { startClickhouse, type ClickhouseServer } from '../../support/start-clickhouse.mjs';
import { tempFolder } from '../../support/temp-folder.js';
import { incomingEvent, incomingEvents, incomingIdentify } from '../support/incoming.js';

describe('an export to ClickHouse', { tags: ['ClickHouse'] }, () => {
  let server: ClickhouseServer;
  let tables = 0;

  beforeAll(async () => {
    server = await startClickhouse();
  });
  afterAll(() => server.stop());

  /** A store and a table of one's own. */
  const enter = () => {
    const path = join(tempFolder(), 'rows.db');
    const table = `rows_${++tables}`;
    const errors: string[] = [];
    const openStore = (): Store => {
      const store = createLibsqlStore({ path });
      onTestFinished(() => store.close());
      return store;
    };
    const run = (store: Store, address = `${server.url}?table=${table}`) => {
      const stop = startExport({
        store,
        target: createClickhouseTarget(address),
        tell: createTell({
          onError: ({ message }) => void errors.push(message),
          onRecovery: () => void errors.push('over'),
        }),
      });
      onTestFinished(stop);
      return stop;
    };
    const count = async () => Number(await server.query(`SELECT count() FROM ${table}`));
    return { openStore, run, table, errors, count };
  };
  it('has each row once, as it is stored', async () => {
    const { openStore, run, table, count } = enter();
    const store = openStore();
    const quote = `it's \\ "a" ${'`'}b${'`'} %s {x:String} \t\n ￿ 🎉`;
    await store.write([
      incomingEvent(
        { id: quote, client: 'c', calledAt: '2026-03-01T11:00:00.123Z' },
        { project: quote, channel: quote, event: quote, user_id: quote, tags: { 'a.b': 1 } },
      ),
      incomingIdentify({ id: 'i' }, { properties: { n: null } }),
      incomingEvent({ id: 'far', calledAt: '9999-12-31T23:59:59.999Z' }),
      incomingEvent({ id: 'early', calledAt: '1969-12-31T23:59:59.999Z' }),
      incomingEvent({ id: 'large' }, { description: 'x'.repeat(60_000) }),
    ]);
    run(store);
    await vi.waitFor(async () => expect(await count()).toBe(5));
    const lines = (
      await server.query(`SELECT * FROM ${table} ORDER BY seq FORMAT JSONEachRow`)
    ).split('\n');
    const rows = lines.map((line) => JSON.parse(line) as Record<string, string>);
    const stored = await store.rows({}, { limit: 10 });
    expect(rows.map(({ body }) => JSON.parse(body!) as unknown)).toEqual(
      stored.map(({ body }) => body),
    );
    expect(rows[0]).toMatchObject({
      ...{ id: quote, type: 'event', project: quote, channel: quote, event: quote, user_id: quote },
      ...{
        client: 'c',
        called_at: '2026-03-01 11:00:00',
        called_at_ms: `${Date.UTC(2026, 2, 1, 11, 0, 0, 123)}`,
      },
    });
    // The docs say so. The milliseconds are those of the call.
    expect(rows.slice(2, 4)).toMatchObject([
      {
        called_at: '2105-12-31 23:59:59',
        called_at_ms: `${Date.parse('9999-12-31T23:59:59.999Z')}`,
      },
      {
        // How 18.16 writes the first second.
        called_at: expect.stringMatching(/^(1970-01-01|0000-00-00) 00:00:00$/) as unknown,
        called_at_ms: '-1',
      },
    ]);
    expect(new Set(rows.map(({ source }) => source))).toEqual(
      new Set([(await store.progress.source()).id]),
    );
  });

  it('has the rows of several stores beside each other', async () => {
    const [one, other] = [enter(), enter()];
    const stores = [one.openStore(), other.openStore()] as const;
    const addressOf = (cell: string) => `${server.url}?table=${one.table}&cell=${cell}`;
    await stores[0].write(incomingEvents(0, 30));
    await stores[1].write(incomingEvents(0, 20));
    one.run(stores[0], addressOf('eu'));
    other.run(stores[1], addressOf('us'));
    const cells = () =>
      server.query(`SELECT cell, count(), max(seq) FROM ${one.table} GROUP BY cell ORDER BY cell`);
    await vi.waitFor(async () => expect(await cells()).toBe('eu\t30\t30\nus\t20\t20'));
    for (const store of stores) {
      const target = createClickhouseTarget(addressOf('eu'));
      const { stored, exported, gone } = await verify({ store, target });
      expect([exported, gone]).toEqual([stored, 0]);
    }
  });

  it('goes on behind the last row that it has, after its process was killed', async () => {
    const { openStore, run, count } = enter();
    const store = openStore();
    await store.write(incomingEvents(0, 50));
    await run(store)();
    const stop = run(store);
    await vi.waitFor(async () => expect(await count()).toBe(50));
    await stop();
    // Its place was not written any more.
    await store.progress.moveTo((await store.progress.targets())[0]!.name, 10);
    await store.write(incomingEvents(50, 60));
    run(store);
    await vi.waitFor(async () => expect(await count()).toBe(60));
  });

  it('stands still if the store was set back, and goes on as told', async () => {
    const { openStore, run, count, errors } = enter();
    const store = openStore();
    await store.write(incomingEvents(0, 5));
    const stop = run(store);
    await vi.waitFor(async () => expect(await count()).toBe(5));
    await stop();
    // A store that was set back has the same source and fewer rows.
    const source = await store.progress.source();
    const old = enter();
    const back = old.openStore();
    await back.write(incomingEvents(0, 3));
    const setBack = { ...back, progress: { ...back.progress, source: async () => source } };
    const stopBack = run(setBack);
    await vi.waitFor(() => expect(errors.join()).toMatch(/set back.*--new-source/));
    await stopBack();
    expect(await count()).toBe(5);
  });

  it('says what is wrong with the set-up, and leaves the rows where they are', async () => {
    const { openStore, run, errors, table } = enter();
    const store = openStore();
    await store.write(incomingEvents(0, 5));
    const name = server.url.replace(/.*@/, '').replace('/default', '');
    const page = createServer((_, answer) => void answer.end('<html>Welcome to nginx</html>'));
    const silent = createServer((request) => void setTimeout(() => request.destroy(), 300));
    const portOf = async (one: Server) => {
      await once(one.listen(0, '127.0.0.1'), 'listening');
      onTestFinished(() => void one.close());
      return (one.address() as AddressInfo).port;
    };
    const cases: [string, RegExp][] = [
      [
        `clickhouse://127.0.0.1:${await portOf(page)}/x`,
        /no ClickHouse answers there, but: .*nginx/,
      ],
      [`clickhouse://127.0.0.1:${await portOf(silent)}/x`, /no answer: /],
      [`clickhouse://default:wrong@${name}/default`, /no answer|it answers \d+: .*password/i],
      [`clickhouse://reader@${name}/default`, /it answers \d+: .*readonly/i],
      [`${server.url}?table=other_${table}`, /is a Log/],
      [`${server.url}?table=merging_${table}`, /is a ReplacingMergeTree/],
      [`${server.url}?table=short_${table}`, /lacks the column id String, type String/],
      [
        `${server.url}?table=narrow_${table}`,
        /lacks the column seq UInt64 \(it is UInt8 there\), received_at_ms Int64 \(it is UInt64 there\)\. /,
      ],
      [`clickhouse://default:secret@${name}/nowhere`, /it answers \d+: .*nowhere/],
      ['clickhouse://127.0.0.1:4/x', /no answer: .*ECONNREFUSED/],
    ];
    await server.query(`CREATE TABLE other_${table} (seq UInt64) ENGINE = Log`);
    await server.query(
      `CREATE TABLE short_${table} (seq UInt64) ENGINE = MergeTree() ORDER BY seq`,
    );
    await server.query(
      `CREATE TABLE merging_${table} (seq UInt64) ENGINE = ReplacingMergeTree() ORDER BY seq`,
    );
    await createClickhouseTarget(`${server.url}?table=narrow_${table}`).prepare();
    for (const [column, type] of [
      ['seq', 'UInt8'],
      ['received_at_ms', 'UInt64'],
    ])
      await server.query(`ALTER TABLE narrow_${table} MODIFY COLUMN ${column} ${type}`);
    for (const [address, words] of cases) {
      errors.length = 0;
      const stop = run(store, address);
      await vi.waitFor(() => expect(errors.join()).toMatch(words));
      await stop();
      expect(errors.join()).not.toContain('secret');
    }
    for (const { place } of await store.progress.targets()) expect(place).toBe(0);
  });

  it('keeps a row that the table refuses, and writes all others', async () => {
    const { openStore, run, table, count } = enter();
    const store = openStore();
    await createClickhouseTarget(`${server.url}?table=${table}`).prepare();
    // A column of the owner's, for numbers alone.
    await server.query(
      `ALTER TABLE ${table} ADD COLUMN number UInt32 MATERIALIZED toUInt32(user_id)`,
    );
    const all = incomingEvents(0, 40).map((record, n) => ({
      ...record,
      body: { ...record.body, user_id: n % 13 === 5 ? 'a' : String(n) },
    }));
    await store.write(all);
    run(store);
    await vi.waitFor(async () => expect(await count()).toBe(37));
    const [target] = await store.progress.targets();
    expect(target).toMatchObject({ dead: 3 });
    const dead = await store.progress.dead(target!.name, 0, 10);
    expect(dead.map(({ place }) => place)).toEqual([6, 19, 32]);
    expect(dead[0]!.message).toMatch(/it answers \d+: Cannot parse/);
  });

  it('says how many rows wait for a table that refuses all', async () => {
    const { openStore, run, table } = enter();
    const store = openStore();
    const target = createClickhouseTarget(`${server.url}?table=${table}`);
    await target.prepare();
    await server.query(
      `ALTER TABLE ${table} ADD COLUMN number UInt32 MATERIALIZED toUInt32(event)`,
    );
    await store.write(incomingEvents(0, 30));
    run(store);
    const words = /it refuses every row: it answers \d+: Cannot parse/;
    await vi.waitFor(async () => {
      expect((await store.progress.targets())[0]!.message).toMatch(words);
    });
    expect(await verify({ store, target })).toMatchObject({
      ...{ stored: 0, exported: 0, waiting: 30 },
      problem: expect.stringMatching(words) as unknown,
    });
    await server.query(`ALTER TABLE ${table} MODIFY COLUMN seq UInt8`);
    expect(await verify({ store, target })).toMatchObject({
      problem: expect.stringContaining('seq UInt64 (it is UInt8 there)') as unknown,
    });
  });

  it.each(['DROP', 'TRUNCATE'])(
    'says that its rows are gone after %s TABLE, and is filled by `verify`',
    async (verb) => {
      const { openStore, run, table, count, errors } = enter();
      const store = openStore();
      await store.write(incomingEvents(0, 50));
      const stop = run(store);
      const placed = async () => (await store.progress.targets())[0]?.place;
      await vi.waitFor(async () => expect(await placed()).toBe(50));
      if (verb === 'TRUNCATE') await stop();
      await server.query(`${verb} TABLE ${table}`);
      await store.write(incomingEvents(50, 60));
      if (verb === 'TRUNCATE') run(store);
      await vi.waitFor(() =>
        expect(errors.join()).toMatch(/lacks rows .*from place 1 on.*export verify/),
      );
      await vi.waitFor(async () => expect(await count()).toBe(10));
      const target = createClickhouseTarget(`${server.url}?table=${table}`);
      await vi.waitFor(async () => {
        expect(await verify({ store, target })).toMatchObject({ exported: 60, waiting: 0 });
      });
      expect(await count()).toBe(60);
    },
  );

  it.each(['SharedMergeTree', 'ReplicatedMergeTree'])(
    'fills a table that a host has made a %s',
    async (engine) => {
      const { openStore, run, table, count } = enter();
      const store = openStore();
      // A proxy that calls the table so, in front of the real server.
      const host = createServer(async (request, answer) => {
        let body = '';
        for await (const chunk of request) body += String(chunk);
        const headers = request.headers as Record<string, string>;
        const real = await fetch(`http://127.0.0.1:${server.port}${request.url}`, {
          ...{ method: 'POST', body },
          headers: {
            'x-clickhouse-user': headers['x-clickhouse-user']!,
            'x-clickhouse-key': headers['x-clickhouse-key']!,
          },
        });
        answer.writeHead(real.status);
        answer.end((await real.text()).replace(/^MergeTree$/m, engine));
      });
      await once(host.listen(0, '127.0.0.1'), 'listening');
      onTestFinished(() => void host.close());
      await createClickhouseTarget(`${server.url}?table=${table}`).prepare();
      await store.write(incomingEvents(0, 5));
      const { port } = host.address() as AddressInfo;
      run(store, `clickhouse://default:secret@127.0.0.1:${port}/default?table=${table}`);
      await vi.waitFor(async () => expect(await count()).toBe(5));
    },
  );

  it('goes on under a new source: all is compared, and erased under the former one, too', async () => {
    const { openStore, run, table, count } = enter();
    const store = openStore();
    await store.write([incomingEvent({ id: 'mine' }, { user_id: 'u' }), ...incomingEvents(0, 4)]);
    const stop = run(store);
    await vi.waitFor(async () => expect(await count()).toBe(5));
    await stop();
    await store.progress.newSource(5);
    const target = createClickhouseTarget(`${server.url}?table=${table}`);
    await store.progress.moveTo(target.name, 5);
    await store.write(incomingEvents(4, 7));
    run(store);
    await vi.waitFor(async () => {
      expect((await store.progress.targets())[0]).toMatchObject({ place: 8 });
    });
    const whole = { from: 6, to: 9, stored: 3, exported: 3, filled: 0, gone: 0 };
    expect(await verify({ store, target })).toMatchObject(whole);
    expect(await count()).toBe(8);
    const source = await store.progress.source();
    await target.erase!(source, [{ place: 9, upto: 9, project: 'p', user_id: 'u' }]);
    expect(await count()).toBe(7);
  });

  it('passes on an erasure that is longer than an address may be', async () => {
    const { openStore, run, table, count } = enter();
    const store = openStore();
    const user_id = 'ü'.repeat(30_000);
    await store.write([incomingEvent({ id: 'mine' }, { user_id }), ...incomingEvents(0, 2)]);
    run(store);
    await vi.waitFor(async () => expect(await count()).toBe(3));
    const target = createClickhouseTarget(`${server.url}?table=${table}`);
    const source = await store.progress.source();
    await target.erase!(source, [{ place: 4, upto: 4, project: 'p', user_id }]);
    expect(await count()).toBe(2);
  });

  it('deletes what was erased', async () => {
    const { openStore, run, table, count } = enter();
    const store = openStore();
    const user_id = `x' OR 1=1 --`;
    await store.write([...incomingEvents(0, 5), incomingEvent({ id: 'mine' }, { user_id })]);
    const target = createClickhouseTarget(`${server.url}?table=${table}`);
    run(store);
    await vi.waitFor(async () => expect(await count()).toBe(6));
    const source = await store.progress.source();
    const erased = { place: 7, upto: 7, project: 'p', user_id };
    await target.erase!(source, [erased, { ...erased, project: 'other', user_id: 'u' }]);
    expect(await count()).toBe(5);
    await target.erase!(source, [{ place: 8, upto: 3, project: 'p', event: 'e' }]);
    expect(await count()).toBe(3);
    expect((await target.places!(source.id, { from: 0, to: 10 })).sort()).toEqual([3, 4, 5]);
    expect(await target.sumPlaces!(source.id, { from: 0, to: 10, block: 4 })).toEqual(
      new Map([
        [0, { rows: 1, places: 3 }],
        [4, { rows: 2, places: 9 }],
      ]),
    );
  });
});
