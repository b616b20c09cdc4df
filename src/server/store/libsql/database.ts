import { setTimeout as sleep } from 'node:timers/promises';
import AsyncDatabase from 'libsql/promise';
import { messageOf } from '../../../util/errors.js';
import type { Database, Run } from '../database.js';
import { SQLITE } from './dialect.js';
import {
  BUSY_TIMEOUT_MS,
  busyPauseMs,
  checkRoom,
  codeOf,
  inWords,
  openDatabase as openFile,
  roomOf,
} from './file.js';
import { createNotice } from './notice.js';
import { hasEnded, ownProcess } from '../process-name.js';
import { TABLES } from './tables.js';

type Awaitable<Value> = Value | Promise<Value>;

/** A connection of either kind, if its answers are awaited. */
interface Connection {
  exec: (sql: string) => Awaitable<unknown>;
  prepare: (sql: string) => Awaitable<{ all: (...values: unknown[]) => Awaitable<unknown[]> }>;
  readonly inTransaction: boolean;
  close: () => void;
}

/** What SQLite says if it refuses a row itself. Anything else is trouble of the database. */
const OF_THE_ROW = /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/;
/**
 * A commit is on the disk before it returns. A checkpoint copies each changed page from the log into the file, and new ids
 * change pages all over their index. So the fewer checkpoints, the less is written. The log grows to about 16 MB.
 * https://www.sqlite.org/pragma.html#pragma_wal_autocheckpoint
 */
const WRITER_SETTINGS = 'PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000';

/** SQLite writes the number of a value behind a question mark. */
const numbered = (sql: string): string => sql.replace(/\$(\d+)/g, '?$1');

/** The statements of the writer, each prepared once. */
const createRun = (writer: Connection): Run => {
  const prepared = new Map<string, ReturnType<Connection['prepare']>>();
  // By `all`, since the package's `run` blocks the event loop.
  return async <Row>(sql: string, ...values: unknown[]) => {
    let statement = prepared.get(sql);
    if (!statement) prepared.set(sql, (statement = writer.prepare(numbered(sql))));
    return (await (await statement).all(...values)) as Row[];
  };
};

/**
 * Opens the two connections of a store. The reader is synchronous. The writer runs its statements, commits and waits
 * for the disk on a thread of the package, so that requests are answered meanwhile. A database in memory has one
 * connection, since two would be two databases.
 */
export const openDatabase = (path: string): Database => {
  const { database: reader, checkPlace } = openFile(path, TABLES);
  const writer: Connection =
    path === ':memory:'
      ? (reader as unknown as Connection)
      : (new AsyncDatabase(path, { timeout: BUSY_TIMEOUT_MS }) as unknown as Connection);
  const notice = createNotice(reader);
  const run = createRun(writer);

  /** Settles when the newest work has ended. One statement or transaction runs at a time. */
  let last: Promise<unknown> = Promise.resolve();
  let isSetUp = false;

  /** Runs a statement that needs the lock of the file, again and again while another process has it. */
  const patiently = async <Result>(
    ask: () => Awaitable<Result>,
    since: number,
  ): Promise<Result> => {
    try {
      if (!isSetUp) await writer.exec(WRITER_SETTINGS);
      isSetUp = true;
      return await ask();
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_BUSY' || writer.inTransaction) throw error;
      const pauseMs = busyPauseMs(performance.now() - since);
      if (pauseMs === undefined) throw error;
      await sleep(pauseMs);
      return patiently(ask, since);
    }
  };
  const inTransaction = async <Result>(
    work: (run: Run) => Promise<Result>,
    since: number,
  ): Promise<Result> => {
    await patiently(() => writer.exec('BEGIN IMMEDIATE'), since);
    try {
      const result = await work(run);
      await writer.exec('COMMIT');
      return result;
    } catch (error) {
      // After some errors SQLite has rolled back already.
      if (writer.inTransaction) await writer.exec('ROLLBACK');
      throw error;
    }
  };
  /** Runs work after all earlier work. Settles when it is on the disk. */
  const inTurn = <Result>(work: (since: number) => Promise<Result>): Promise<Result> => {
    const since = performance.now();
    const result = last.then(() => {
      checkPlace();
      return work(since);
    });
    last = result.catch(() => {}); // the caller gets the error
    return result.catch((error: unknown) => {
      throw inWords(error, path);
    });
  };
  const write: Run = (sql, ...values) =>
    inTurn((since) => patiently(() => run(sql, ...values), since));

  return {
    ...SQLITE,
    ...{ ownProcess, hasEnded },
    read: async <Row>(sql: string, ...values: unknown[]) =>
      reader.prepare<unknown[]>(numbered(sql)).all(...values) as Row[],
    write,
    transaction: (work) => inTurn((since) => inTransaction(work, since)),
    lanes: 1,
    blocks: true,
    wordsOfRefusal: (error) =>
      OF_THE_ROW.test(codeOf(error) ?? '') ? messageOf(error) : undefined,
    isLate: () => false,
    // SQLite writes this even if it is 0 already. An empty transaction would succeed even with a full disk or a
    // read-only file.
    check: async ({ asksForRoom = false } = {}) => {
      if (asksForRoom) await checkRoom(path);
      await inTurn((since) => patiently(() => writer.exec('PRAGMA application_id = 0'), since));
    },
    room: () => roomOf(path),
    follow: notice.follow,
    told: notice.tell,
    close: async (): Promise<void> => {
      notice.end();
      await last;
      writer.close();
      if (path !== ':memory:') reader.close();
    },
  };
};
