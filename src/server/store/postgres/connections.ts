import type pg from 'pg';
import { messageOf } from '../../../util/errors.js';
import { load } from '../../../util/load.js';
import type { Run } from '../database.js';
import { readTls, type Tls } from './tls.js';

export interface ConnectionOptions {
  url: string;
  /**
   * Milliseconds after which Postgres gives up a statement. A statement that stores waits for a lock for half of that.
   */
  statementTimeout: number;
}

/**
 * How many connections store, how many run transactions, and how many read. They are apart, so that neither a slow
 * search nor a transaction holds up new records.
 */
const [WRITERS, WORKERS, READERS] = [2, 2, 4];
const CONNECT_TIMEOUT_MS = 5_000;
/** A machine that vanishes in the middle of a statement must not hold the lock of the rows for hours, as TCP would. */
const NOTICE_DEAD_CLIENTS =
  '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3';
/**
 * Settings that our statements rely on. A role or a database may have others: without these, a NULL in a list of
 * parameters is the text `NULL`, a place loses its last digits, and a statement does not see what was stored before it
 * got its lock, or does not wait for it.
 */
const RELIED_ON = String.raw`-c array_nulls=on -c extra_float_digits=1 -c default_transaction_isolation=read\ committed -c lock_timeout=0`;
/**
 * Has Postgres end a transaction whose process stands still in it, and with it its locks; the second setting does so
 * while an answer is on its way to the process.
 */
const END_STILL_ONES = '-c idle_in_transaction_session_timeout=3000 -c tcp_user_timeout=4000';
/** To compile a statement takes longer than most looks, which Postgres expects to take very long. */
const COMPILE_NONE = '-c jit=off';
/** To plan the statement that stores costs more than to run it for a few records. */
const PLAN_ONCE = '-c plan_cache_mode=force_generic_plan';
/** The code if `pg_hba.conf` has no entry for this kind of connection, with TLS or without. */
const NO_ENTRY = '28000';
/**
 * Errors of a statement or its data, after which a connection is as good as before. Any other error may come from the
 * state of the connection itself, which may be read-only, lack a prepared statement, or have an outdated role.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const OF_THE_STATEMENT = /^(22|23|40|44|54|P0)|^(55P03|57014)$/;
/** How much longer than Postgres this side waits, for a network that fails without a word. */
const SILENCE_MS = 2_000;

/** How often a transaction is tried that Postgres ends in favour of another one. */
const TRIES = 3;
const NO_TIMEOUTS = 'SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0';
/** The longest time that a timer takes. */
const FOREVER_MS = 2_147_483_647;

/** The code of an error that Postgres itself has answered, or that is the cause of one in words; else an empty text. */
export const stateOf = (error: unknown): string => {
  const { code, severity, cause } = (error ?? {}) as Record<'code' | 'severity' | 'cause', unknown>;
  if (severity) return String(code);
  return cause === undefined ? '' : stateOf(cause);
};

/** A refused connection to a name with several addresses has no message of its own, but one for each address. */
const wordsOf = (error: unknown): string => {
  const { errors } = (error ?? {}) as { errors?: unknown[] };
  return messageOf(errors?.[0] ?? error);
};

/** The connections to one database. If one fails, its statement fails, and the next statement opens another. */
export const openConnections = async ({ url, statementTimeout }: ConnectionOptions) => {
  const { default: driver } = await load('pg', () => import('pg'));
  const { connectionString, ways } = readTls(url);
  const settings = {
    connectionString,
    application_name: 'analytics-outbox',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementTimeout,
    query_timeout: statementTimeout + SILENCE_MS,
    keepAlive: true,
    options: `${NOTICE_DEAD_CLIENTS} ${RELIED_ON} ${COMPILE_NONE}`,
  };
  const createClient = (tls: { ssl?: Tls }): pg.Client => {
    try {
      return new driver.Client({ ...settings, ...tls }).on('error', () => {}); // `end` follows
    } catch (error) {
      throw new Error('`url` is no address of a Postgres database', { cause: error });
    }
  };
  const { host, port, database: name } = createClient({});
  const inWords = (error: unknown): Error =>
    new Error(`Postgres at ${host}:${port}/${name}: ${wordsOf(error)}`, { cause: error });

  /** The first way that Postgres accepts. If it refuses the password, it would do so on every way. */
  const findWay = async ([way, ...others]: readonly Tls[]): Promise<Tls | undefined> => {
    if (!others.length) return way;
    const client = createClient({ ssl: way! });
    try {
      await client.connect();
      return way;
    } catch (error) {
      const state = stateOf(error);
      if (state && state !== NO_ENTRY) throw inWords(error);
      return await findWay(others);
    } finally {
      void client.end().catch(() => {}); // it may never have begun
    }
  };
  // A socket of this machine has no TLS.
  const way = host.startsWith('/') ? false : await findWay(ways);
  const tls = way === undefined ? {} : { ssl: way };

  const createPool = (max: number, options = settings.options) =>
    new driver.Pool({ ...settings, ...tls, options, max })
      // The statement of a connection that ends reports it.
      .on('error', () => {})
      .on('connect', (client) => void client.on('error', () => {}));
  // A statement has at least half of its time left when it has its locks. So if its time runs out, waiting was not the
  // only reason.
  const lockTimeout = `-c lock_timeout=${Math.ceil(statementTimeout / 2)}`;
  const storing = `${settings.options} ${lockTimeout} ${PLAN_ONCE}`;
  const writers = createPool(WRITERS, storing);
  const workers = createPool(WORKERS, `${storing} ${END_STILL_ONES}`);
  const readers = createPool(READERS);

  /** Runs work on one connection, which is closed after any error that may come from the connection itself. */
  const on = async <Result>(
    pool: pg.Pool,
    work: (client: pg.PoolClient) => Promise<Result>,
  ): Promise<Result> => {
    let isBroken = false;
    let client: pg.PoolClient | undefined;
    try {
      client = await pool.connect();
      return await work(client);
    } catch (error) {
      isBroken = !OF_THE_STATEMENT.test(stateOf(error));
      throw inWords(error);
    } finally {
      client?.release(isBroken);
    }
  };
  /** The names of statements, each of which is planned once for each connection. */
  const names = new Map<string, string>();
  const ask = async <Row>(
    client: pg.PoolClient,
    text: string,
    values: unknown[],
  ): Promise<Row[]> => {
    const name = names.get(text) ?? `statement ${names.size}`;
    names.set(text, name);
    return (await client.query({ name, text, values })).rows as Row[];
  };
  /** Tries again if Postgres has ended a transaction in favour of another one. */
  const tryAgain = async <Result>(work: () => Promise<Result>, tries = TRIES): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      if (tries > 1 && /^40(001|P01)$/.test(stateOf(error))) return tryAgain(work, tries - 1);
      throw error;
    }
  };
  const inTransaction = async <Result>(
    client: pg.PoolClient,
    work: () => Promise<Result>,
    settings = '',
  ): Promise<Result> => {
    await client.query(`BEGIN; ${settings}`);
    try {
      const result = await work();
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {}); // or the connection is gone
      throw error;
    }
  };

  return {
    /** How many statements may store at once. */
    writers: WRITERS,
    write: (<Row>(sql: string, ...values: unknown[]) =>
      tryAgain(() => on(writers, (client) => ask<Row>(client, sql, values)))) satisfies Run,
    // Without a name it is planned each time for its values: rare and common events need different plans.
    read: <Row>(text: string, ...values: unknown[]) =>
      on(readers, async (client) => (await client.query({ text, values })).rows as Row[]),
    transaction: <Result>(work: (run: Run) => Promise<Result>): Promise<Result> =>
      tryAgain(() =>
        on(workers, (client) =>
          inTransaction(client, () => work((sql, ...values) => ask(client, sql, values))),
        ),
      ),
    /** Runs statements without values in one transaction, however long they take. */
    longTransaction: (work: (query: (text: string) => Promise<pg.QueryResult>) => Promise<void>) =>
      on(writers, (client) => {
        const query = (text: string) =>
          client.query({ text, query_timeout: FOREVER_MS } as pg.QueryConfig);
        return inTransaction(client, () => work(query), NO_TIMEOUTS);
      }),
    /** A connection of one's own, to listen on. */
    connect: async (): Promise<pg.Client> => {
      const client = createClient(tls);
      await client.connect();
      return client;
    },
    close: async (): Promise<void> => {
      await Promise.all([writers.end(), workers.end(), readers.end()]);
    },
  };
};

export type Connections = Awaited<ReturnType<typeof openConnections>>;
