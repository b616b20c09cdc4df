import { setTimeout as sleep } from 'node:timers/promises';
import AsyncDatabase from 'libsql/promise';
import {
  BUSY_TIMEOUT_MS,
  busyPauseMs,
  codeOf,
  inWords,
  openDatabase,
} from './file.js';
import { TABLES } from './schema.js';

type Awaitable<Value> = Value | Promise<Value>;

/** A connection of either kind, if its answers are awaited. */
interface Connection {
  exec: (sql: string) => Awaitable<unknown>;
  prepare: (sql: string) => Awaitable<{ all: (...values: unknown[]) => Awaitable<unknown[]> }>;
  readonly inTransaction: boolean;
  close: () => void;
}

/** A statement that runs inside a transaction of the writer. */
export type Statement = <Row>(...values: unknown[]) => Promise<Row[]>;

/** Prepares statements of the writer, which have to run inside of its transactions. */
export interface Writer {
  exec: (sql: string) => Promise<void>;
  prepare: (sql: string) => Statement;
  /** Prepares a statement that returns how many rows it has changed. */
  prepareChange: (sql: string) => (...values: unknown[]) => Promise<number>;
}

/**
 * A commit is on the disk before it returns. A checkpoint copies each changed page from the log into the file, and new ids
 * change pages all over their index. So the fewer checkpoints, the less is written. The log grows to about 16 MB.
 * https://www.sqlite.org/pragma.html#pragma_wal_autocheckpoint
 */
const WRITER_SETTINGS = 'PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000';

/**
 * Opens the two connections of a store. The reader is synchronous. The writer runs its statements, commits and waits
 * for the disk on a thread of the package, so that requests are answered meanwhile. A database in memory has one
 * connection, since two would be two databases.
 */
export const openConnections = (path: string) => {
  const { database: reader, checkPlace } = openDatabase(path, TABLES);
  const writer: Connection =
    path === ':memory:'
      ? (reader as unknown as Connection)
      : (new AsyncDatabase(path, { timeout: BUSY_TIMEOUT_MS }) as unknown as Connection);

  /** Settles when the newest transaction has ended. Transactions run one at a time. */
  let last: Promise<unknown> = Promise.resolve();
  let isSetUp = false;

  /**
   * Begins a transaction, and waits if another process has locked the file. Before the first one it makes the settings.
   * `since`: when the work was added.
   */
  const begin = async (since: number): Promise<void> => {
    try {
      if (!isSetUp) await writer.exec(WRITER_SETTINGS);
      isSetUp = true;
      await writer.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_BUSY') throw error;
      const pauseMs = busyPauseMs(performance.now() - since);
      if (pauseMs === undefined) throw error;
      await sleep(pauseMs);
      await begin(since);
    }
  };
  const runNow = async <Result>(work: () => Promise<Result>, since: number): Promise<Result> => {
    checkPlace();
    await begin(since);
    try {
      const result = await work();
      await writer.exec('COMMIT');
      return result;
    } catch (error) {
      // After some errors SQLite has rolled back already.
      if (writer.inTransaction) await writer.exec('ROLLBACK');
      throw error;
    }
  };

  /** Runs each statement by `all`, since the package's `run` blocks the event loop. */
  const prepare = (sql: string): Statement => {
    let statement: Awaited<ReturnType<Connection['prepare']>> | undefined;
    return async <Row>(...values: unknown[]) => {
      statement ??= await writer.prepare(sql);
      return (await statement.all(...values)) as Row[];
    };
  };
  const changes = prepare('SELECT changes() AS count');

  return {
    reader,
    writer: {
      exec: async (sql) => void (await writer.exec(sql)),
      prepare,
      prepareChange: (sql) => {
        const statement = prepare(sql);
        return async (...values) => {
          await statement(...values);
          const [row] = await changes<{ count: number }>();
          return row!.count;
        };
      },
    } satisfies Writer,
    /** Runs work in a transaction, after all earlier work. Settles when it is on the disk. */
    transaction: <Result>(work: () => Promise<Result>): Promise<Result> => {
      const since = performance.now();
      const result = last.then(() => runNow(work, since));
      last = result.catch(() => {}); // the caller gets the error
      return result.catch((error: unknown) => {
        throw inWords(error, path);
      });
    },
    /** Closes both when the last transaction has ended. */
    close: async (): Promise<void> => {
      await last;
      writer.close();
      if (path !== ':memory:') reader.close();
    },
  };
};
