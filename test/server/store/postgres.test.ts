import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startPostgres, type PostgresServer } from '../../support/start-postgres.mjs';
import { createPostgresStore, type PostgresStoreOptions } from '../../../src/service-postgres.js';
import type { Incoming } from '../../../src/server/incoming.js';
import type { StoreWorld } from './contract/scenario.js';
import { PROGRESS_TABLES, SPOILT_BY, type SpoiltTable } from './contract/scenario.js';
import { describeStore } from './store-contract.js';
import { incomingEvent, incomingIdentify } from '../support/incoming.js';
import { olderPostgres } from '../support/older-tables.js';
import { patient } from '../support/patient.js';

vi.mock('../../../src/server/store/refused-bounds.js', async (load) => ({
  ...(await load<object>()),
  ...{ MAX_REFUSED: 100, MAX_OF_TARGET: 100, MAX_DEAD_SIZE: 1_048_576 },
}));
// Readers make many steps, so that others write meanwhile, and do not pause for long.
vi.mock('../../../src/server/store/pace.js', async (load) => ({
  ...(await load<object>()),
  ...{ PAUSE_MS: 3, LOOK_MS: 50, BUSY_MS: 1, FIRST_STEP: 50, MAX_STEP: 200 },
}));

/** What the role of all stores here has set, so that the whole contract holds with it. */
const UNUSUAL = [
  ...['array_nulls = off', 'standard_conforming_strings = off', "DateStyle = 'German, YMD'"],
  ...["IntervalStyle = 'sql_standard'", "TimeZone = 'Asia/Kathmandu'", 'bytea_output = escape'],
  ...['extra_float_digits = -15', 'lock_timeout = 1', 'transform_null_equals = on'],
  "default_transaction_isolation = 'serializable'",
];
const ALL = { limit: 10_000 };
const STORED = { outcome: 'stored' };

describe('over a Postgres', { tags: ['Postgres'] }, () => {
  let server: PostgresServer;
  let client: pg.Client;
  let worlds = 0;

  beforeAll(async () => {
    // What was committed outlives a kill of the server without them, too; a power cut is nothing to try here.
    const spared = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off', jit: 'off' };
    server = await startPostgres({ max_stack_depth: '200kB', ...spared });
    client = new pg.Client(server.url).on('error', () => {}); // it is killed on purpose
    await client.connect();
    for (const setting of UNUSUAL) await client.query(`ALTER ROLE postgres SET ${setting}`);
  });
  afterAll(async () => {
    await client.end();
    await server.stop();
  });

  const open = async (options: PostgresStoreOptions) => {
    const store = await createPostgresStore(options);
    let isClosed = false;
    const close = async () => {
      if (!isClosed) await store.close();
      isClosed = true;
    };
    onTestFinished(close);
    return { ...store, close };
  };
  const enter = (): StoreWorld & { schema: string } => {
    const schema = `world ${++worlds}`;
    return {
      schema,
      open: async (options = {}) => open({ ...options, url: server.url, schema }),
      takeBack: async (version, isUnsummed) => {
        await client.query(olderPostgres(schema));
        if (isUnsummed)
          await client.query(
            `INSERT INTO "${schema}".summing SELECT 0, max(seq), now() FROM "${schema}".records`,
          );
        if (version === 1) {
          for (const table of PROGRESS_TABLES)
            await client.query(`DROP TABLE "${schema}".${table}`);
          await client.query(`DROP TABLE "${schema}".hours, "${schema}".summing;
            ALTER TABLE "${schema}".records DROP COLUMN notify;
            ALTER TABLE "${schema}".row_counts RENAME TO counts`);
        }
        await client.query(`UPDATE "${schema}".version SET version = ${version}`);
      },
      makeOlder: async (ms: number) => {
        await client.query(`UPDATE "${schema}".erasures SET at = at - ${ms}`);
      },
      spoil: async (name: string, words: string, table: SpoiltTable = 'records') => {
        const quote = (text: string) => pg.escapeLiteral(text);
        const is = SPOILT_BY[table].map((column) => `new.${column} = ${quote(name)}`);
        await client.query(`
          CREATE OR REPLACE FUNCTION "${schema}".picky() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION USING MESSAGE = ${quote(words)}; END $$;
          CREATE TRIGGER picky BEFORE INSERT ON "${schema}".${table} FOR EACH ROW
            WHEN (${is.join(' OR ')}) EXECUTE FUNCTION "${schema}".picky()`);
        return async () => {
          await client.query(`DROP TRIGGER picky ON "${schema}".${table}`);
        };
      },
    };
  };

  describeStore('Postgres', enter);

  it('makes its tables once when many processes start at once, and finds them again', async () => {
    const { open, schema } = enter();
    const stores = await Promise.all(Array.from({ length: 8 }, () => open()));
    await Promise.all(stores.map((store, n) => store.write([incomingEvent({ id: `${n}` })])));
    expect(await (await open()).rows({}, ALL)).toHaveLength(8);
    const { rows } = await client.query(`SELECT * FROM "${schema}".version`);
    expect(rows).toEqual([{ version: 4 }]);
  });

  it('knows how many rows there are as it opens tables that were filled meanwhile', async () => {
    const { open, schema } = enter();
    const store = await open();
    const records = Array.from({ length: 500 }, (_, n) => incomingEvent({ id: `${n}` }));
    await store.write(records);
    await open();
    const { rows } = await client.query(`EXPLAIN (FORMAT json) SELECT FROM "${schema}".records
      WHERE project = '${records[0]!.body.project}'`);
    expect(rows[0]['QUERY PLAN'][0].Plan['Plan Rows']).toBe(500);
  });

  it('refuses in words a schema that a newer version has made, and leaves it alone', async () => {
    const { open, schema } = enter();
    await open();
    await client.query(`UPDATE "${schema}".version SET version = 99`);
    await expect(open()).rejects.toThrow(/made by a newer version.*Run the newer version/);
    const { rows } = await client.query(`SELECT * FROM "${schema}".version`);
    expect(rows).toEqual([{ version: 99 }]);
  });

  it('needs no right but those on its schema', async () => {
    const { schema } = enter();
    await client.query(`CREATE ROLE "${schema}" LOGIN;
      CREATE SCHEMA "${schema}" AUTHORIZATION "${schema}"`);
    const url = server.url.replace('postgres@', `${encodeURIComponent(schema)}@`);
    const store = await open({ url, schema });
    expect(await store.write([incomingEvent(), incomingIdentify()])).toEqual([STORED, STORED]);
    await expect(open({ url, schema: 'another' })).rejects.toThrow(/permission denied/);
  });

  it.each([
    ['SQL_ASCII', 'its encoding is SQL_ASCII. It has to be UTF8.'],
    ['nowhere', 'database "nowhere" does not exist'],
  ])('says what is wrong with a database: %s', async (name, words) => {
    if (name === 'SQL_ASCII')
      await client.query(`CREATE DATABASE "SQL_ASCII" ENCODING 'SQL_ASCII' TEMPLATE template0`);
    const url = server.url.replace(/postgres$/, name);
    await expect(open({ url })).rejects.toThrow(words);
  });

  it.each([
    ['postgres://u:secret@127.0.0.1:1/d', 'Postgres at 127.0.0.1:1/d: connect ECONNREFUSED'],
    ['postgres://u:secret@localhost:1/d', 'Postgres at localhost:1/d: connect ECONNREFUSED'],
    ['postgres://u:secret@nowhere.invalid/d', 'Postgres at nowhere.invalid:5432/d: getaddrinfo'],
    ['postgres://u:secret@[/d', '`url` is no address of a Postgres database'],
  ])('says what is wrong with an address, and not the password: %s', async (url, words) => {
    const error: unknown = await open({ url }).catch((reason: unknown) => reason);
    expect(String(error)).toContain(words);
    expect(String(error)).not.toContain('secret');
  });

  it('erases all rows of a user, though another process deletes some of them meanwhile', async () => {
    const { open, schema } = enter();
    const store = await open();
    const rows = Array.from({ length: 1_600 }, (_, n) =>
      incomingEvent({ id: `${n}` }, { user_id: 'u' }),
    );
    await store.write(rows);
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtext('${schema}'), 0);
      DELETE FROM "${schema}".records WHERE seq <= 500`);
    const erased = store.erase({ project: 'p', user_id: 'u' });
    await vi.waitUntil(async () => {
      const waiting = await client.query('SELECT 1 FROM pg_locks WHERE NOT granted');
      return waiting.rows.length > 0;
    });
    await client.query('COMMIT');
    expect(await erased).toBe(1_100);
    expect(await store.rows({}, ALL)).toEqual([]);
  });

  it('gives up a statement that takes too long, and goes on after that', async () => {
    const { schema } = enter();
    const store = await open({ url: server.url, schema, statementTimeout: 300 });
    await client.query(`BEGIN; LOCK TABLE "${schema}".records`);
    await expect(store.write([incomingEvent()])).rejects.toThrow(/lock timeout/);
    await client.query('ROLLBACK');
    expect(await store.write([incomingEvent()])).toEqual([STORED]);
    expect(await store.refused(ALL)).toEqual([]);
  });

  it('leaves out an identify whose profile takes too long, and merges those behind it', async () => {
    const { schema } = enter();
    const store = patient(await open({ url: server.url, schema, statementTimeout: 300 }));
    await client.query(`
      CREATE FUNCTION "${schema}".slow() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(1); RETURN new; END $$;
      CREATE TRIGGER slow BEFORE INSERT ON "${schema}".profiles FOR EACH ROW
        WHEN (new.user_id = 'slow') EXECUTE FUNCTION "${schema}".slow()`);
    await store.write(
      ['a', 'slow', 'b'].map((user) => incomingIdentify({ id: user }, { user_id: user })),
    );
    expect((await store.profiles({}, ALL)).map(({ user_id }) => user_id)).toEqual(['a', 'b']);
    expect(await store.refused(ALL)).toMatchObject([
      { id: 'slow', message: 'the database takes too long for it', isDead: true },
    ]);
    expect(await store.rows({}, ALL)).toHaveLength(3);
  });

  /** What holds up all writing, until what is returned is called. */
  const HOLDS: Readonly<Record<string, (schema: string) => Promise<() => unknown>>> = {
    'an index is made': async (schema) => {
      await client.query(`BEGIN; CREATE INDEX ON "${schema}".records (event)`);
      return () => client.query('COMMIT');
    },
    'another process holds the lock of the rows': async (schema) => {
      await client.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtext('${schema}'), 0)`);
      return () => client.query('COMMIT');
    },
    'the server stands still': async () => {
      server.freeze();
      return () => server.goOn();
    },
  };

  it.each(Object.keys(HOLDS))(
    'asks all to send again while %s, buries nobody and stores each once after that',
    async (what) => {
      const { schema } = enter();
      const store = await open({ url: server.url, schema, statementTimeout: 600 });
      await store.write([incomingEvent({ id: 'before' })]);
      const records = Array.from({ length: 40 }, (_, n) =>
        (n % 4 ? incomingEvent : incomingIdentify)({ id: `${n}`, client: `client ${n}` }),
      );
      const failures: string[] = [];
      /** Sends a record again and again, as a page does. */
      const send = async (record: Incoming): Promise<void> => {
        for (let wasAnswered = false; !wasAnswered;) {
          const words = await store.write([record]).then(
            () => undefined,
            (error: unknown) => String(error),
          );
          if (words === undefined) wasAnswered = true;
          else failures.push(words);
        }
      };
      const release = await HOLDS[what]!(schema);
      const sending = records.map(send);
      try {
        await vi.waitUntil(() => failures.length >= records.length);
      } finally {
        await release();
      }
      await Promise.all(sending);
      expect(failures.filter((words) => /statement timeout/.test(words))).toEqual([]);
      expect(await store.refused(ALL)).toEqual([]);
      const ids = (await store.rows({}, ALL)).map(({ id }) => id);
      expect(ids.sort()).toEqual(['before', ...records.map(({ id }) => id)].sort());
    },
  );

  it('stores while the profiles are locked, and merges identifies after that', async () => {
    const { open, schema } = enter();
    const store = await open();
    await client.query(`BEGIN; LOCK TABLE "${schema}".profiles`);
    for (const id of ['a', 'b', 'c'])
      expect(await store.write([incomingIdentify({ id }, { properties: { [id]: 1 } })])).toEqual([
        STORED,
      ]);
    await client.query('COMMIT');
    const [profile] = await patient(store).profiles({}, ALL);
    expect(profile!.properties).toEqual({ a: 1, b: 1, c: 1 });
  });

  it('tells other processes at once, by a notice of its own after the commit', async () => {
    const { open } = enter();
    const [store, other] = [await open(), await open()];
    const told = vi.fn();
    onTestFinished(other.follow(told));
    await vi.waitFor(() => expect(told).toHaveBeenCalled());
    // By looking for itself it would take two seconds each.
    const startedAt = performance.now();
    for (let n = 0; n < 5; n++) {
      told.mockClear();
      await store.write([incomingEvent({ id: `${n}` })]);
      await vi.waitUntil(() => told.mock.calls.length);
    }
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    // A notice inside of a transaction makes commits of the whole server wait for each other.
    const { rows } = await client.query(
      `SELECT query FROM pg_stat_activity WHERE query ~ 'pg_notify' AND query ~ 'INSERT' AND pid <> pg_backend_pid()`,
    );
    expect(rows).toEqual([]);
  });

  it('says that it can store while searches hold all connections for reading', async () => {
    const { open, schema } = enter();
    const store = await open();
    await client.query(`BEGIN; LOCK TABLE "${schema}".records`);
    const searches = Array.from({ length: 5 }, () => store.rows({}, ALL));
    await vi.waitUntil(async () => {
      const waiting = await client.query('SELECT 1 FROM pg_locks WHERE NOT granted');
      return waiting.rows.length === 4;
    });
    await store.check();
    await client.query('ROLLBACK');
    expect(await Promise.all(searches)).toEqual(searches.map(() => []));
  });

  it('has no room for rows where the disk of the server is full, though a small write passes', async () => {
    const { open, schema } = enter();
    const [store, other] = [await open(), await open()];
    await Promise.all([store, other].map((one) => one.check({ asksForRoom: true })));
    await client.query(`
      CREATE FUNCTION public.full() RETURNS event_trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file'; END $$;
      CREATE EVENT TRIGGER full_disk ON ddl_command_end EXECUTE FUNCTION public.full()`);
    try {
      await store.check();
      await expect(store.check({ asksForRoom: true })).rejects.toThrow('could not extend file');
    } finally {
      await client.query(`DROP EVENT TRIGGER full_disk`);
    }
    await store.check({ asksForRoom: true });
    const { rows } = await client.query(`SELECT to_regclass('"${schema}".room') AS room`);
    expect(rows).toEqual([{ room: null }]);
  });

  it('stores what stands beside JSON that is too deep, and keeps that as a dead letter', async () => {
    const store = await enter().open();
    const deep = { a: JSON.parse('['.repeat(3_000) + ']'.repeat(3_000)) as unknown };
    const records = [{ id: 'a' }, { id: 'deep' }, { id: 'c' }].map((record) =>
      incomingEvent(record, record.id === 'deep' ? { tags: deep } : {}),
    );
    const [, dead] = await store.write(records);
    expect(dead).toEqual({ outcome: 'dead', message: 'stack depth limit exceeded' });
    expect((await store.rows({}, ALL)).map(({ id }) => id)).toEqual(['a', 'c']);
  });

  it('rejects while the database is read-only, and no record is dead for that', async () => {
    const { open, schema } = enter();
    const store = await open();
    await client.query(`REVOKE ALL ON ALL TABLES IN SCHEMA "${schema}" FROM PUBLIC`);
    await client.query(`ALTER SYSTEM SET default_transaction_read_only = on`);
    await client.query(`SELECT pg_reload_conf()`);
    try {
      await vi.waitFor(() =>
        expect(store.write([incomingEvent()])).rejects.toThrow('read-only transaction'),
      );
      await expect(store.check()).rejects.toThrow('read-only transaction');
    } finally {
      // Who made it so has to say that this one may write.
      await client.query(`SET default_transaction_read_only = off`);
      await client.query(`ALTER SYSTEM RESET default_transaction_read_only`);
      await client.query(`SELECT pg_reload_conf()`);
    }
    await vi.waitFor(async () => {
      const [written] = await store.write([incomingEvent({ id: 'later' })]);
      expect(['stored', 'known']).toContain(written!.outcome);
    });
    expect(await store.refused(ALL)).toEqual([]);
  });

  it.each([
    ['is read-only', 'default_transaction_read_only = on', 'read-only transaction'],
    ['has another role', 'role = stranger', 'permission denied'],
  ])(
    'stores again as soon as a new connection can, where an old one %s',
    async (_, setting, words) => {
      const { open } = enter();
      await client.query(`DROP ROLE IF EXISTS stranger; CREATE ROLE stranger`);
      const store = await open();
      // Connections keep what the database had them set as they began.
      const reconnect = () =>
        client.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE application_name = 'analytics-outbox'`);
      await client.query(`ALTER DATABASE postgres SET ${setting}`);
      await reconnect();
      try {
        await vi.waitFor(() => expect(store.write([incomingEvent()])).rejects.toThrow(words));
        await Promise.allSettled([store.check(), store.check(), store.check()]); // all connections
      } finally {
        await client.query(`ALTER DATABASE postgres RESET ${setting.split(' ')[0]}`);
      }
      await Promise.allSettled([store.check(), store.check()]);
      expect(await store.write([incomingEvent()])).toEqual([STORED]);
      expect(await store.refused(ALL)).toEqual([]);
    },
  );

  it('says at once that the database is gone, comes back with it, and has what it answered for', async () => {
    const store = await enter().open();
    const told = vi.fn();
    onTestFinished(store.follow(told));
    await vi.waitFor(() => expect(told).toHaveBeenCalled());
    const answered: string[] = [];
    const write = async (id: string) => {
      await store.write([incomingEvent({ id })]);
      answered.push(id);
    };
    await write('before');
    const writing = Array.from({ length: 20 }, (_, n) => write(`during ${n}`).catch(() => {}));
    await server.kill();
    await Promise.all(writing);
    const started = performance.now();
    await expect(store.write([incomingEvent()])).rejects.toThrow(
      `Postgres at 127.0.0.1:${server.port}/postgres: connect ECONNREFUSED`,
    );
    await expect(store.rows({}, ALL)).rejects.toThrow('ECONNREFUSED');
    expect(performance.now() - started).toBeLessThan(2_000);
    await server.restart();
    client = new pg.Client(server.url).on('error', () => {});
    await client.connect();
    told.mockClear();
    await write('after');
    const ids = (await store.rows({}, ALL)).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(answered));
    expect(new Set(ids).size).toBe(ids.length);
    await vi.waitFor(() => expect(told).toHaveBeenCalled());
    // By looking for itself it would take two seconds each.
    const heard = performance.now();
    for (let n = 0; n < 5; n++) {
      told.mockClear();
      await store.write([incomingEvent({ id: `heard ${n}` })]);
      await vi.waitUntil(() => told.mock.calls.length);
    }
    expect(performance.now() - heard).toBeLessThan(6_000);
  });
});
