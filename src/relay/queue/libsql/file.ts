import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

/** How long a locked file may hold up the start of a process. */
const OPEN_TIMEOUT_MS = 10_000;
/** How long it may hold up all other work after that. Then it is tried again from a timer. */
const BUSY_TIMEOUT_MS = 5;

/** Makes a folder and those above it. The `recursive` of Node never returns where `/proc` refuses one. */
const makeFolder = (path: string): void => {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (!existsSync(path)) throw error; // or another process was faster
  }
};

/**
 * Opens a database file that several processes may share, and creates it with its folder.
 *
 * `FULL`: a commit is on the disk before it returns, so what was acknowledged outlives a power cut, too.
 * https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export const openDatabase = (
  path: string,
  schema: string | ((database: Database.Database, path: string) => void),
): Database.Database => {
  makeFolder(dirname(path));
  const database = new Database(path, { timeout: OPEN_TIMEOUT_MS });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  if (typeof schema === 'string') database.exec(schema);
  else schema(database, path);
  database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  return database;
};

/**
 * Makes sure that the tables of a file are of this version, which stands in its `user_version`. `upgrade` makes them, or
 * takes over older ones; a file of a newer program is refused.
 */
export const withVersion =
  (known: number, upgrade: (database: Database.Database) => void) =>
  (database: Database.Database, path: string): void => {
    const read = database.prepare<unknown[]>('PRAGMA user_version');
    const versionOf = () => (read.all() as { user_version: number }[])[0]!.user_version;
    if (versionOf() === known) return;
    database.exec('BEGIN IMMEDIATE'); // of several processes that start, one does it
    try {
      const version = versionOf();
      if (version > known) {
        throw new Error(
          `${path} is of version ${version}, and this program knows version ${known}: use the newer ` +
            'program again, or another file',
        );
      }
      if (version < known) {
        upgrade(database);
        database.exec(`PRAGMA user_version = ${known}`);
      }
      database.exec('COMMIT');
    } catch (error) {
      // After some errors SQLite has rolled back already.
      if (database.inTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };

interface Job {
  run: () => unknown;
  done: (value: unknown) => void;
  failed: (error: unknown) => void;
  /** When it is given up, by `performance.now()`. */
  until: number;
}

/** How long a job waits for a file that another process has locked. */
const PATIENCE_MS = 10_000;
/** Between two tries at a locked file: from the first of these to the second. */
const [SOON_MS, LATER_MS] = [10, 200];

/** In words of an operator, where SQLite's own do not say where to look. */
const WORDS: Readonly<Record<string, (path: string) => string>> = {
  SQLITE_BUSY: (path) => `another process has locked ${path}`,
  SQLITE_FULL: (path) => `the disk is full: ${path} cannot grow`,
  SQLITE_READONLY: (path) =>
    `${path} may not be written to: look at the rights of the file and its folder`,
  SQLITE_CANTOPEN: (path) => `${path} cannot be opened: look whether its folder is there`,
};

const codeOf = (error: unknown): string | undefined => (error as { code?: string }).code;
const isOfSqlite = (error: unknown): boolean => !!codeOf(error)?.startsWith('SQLITE_');

/**
 * Runs all writes of one turn of the event loop in one transaction, and settles each after the commit. A
 * commit waits for the disk and costs far more than a row. The calls are synchronous, so a file that another process
 * has locked is tried again from a timer.
 */
export const createGroupCommit = (database: Database.Database, path = 'the database') => {
  let waiting: Job[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pauseMs = SOON_MS;

  const inTransaction = (jobs: readonly Job[]): unknown[] => {
    database.exec('BEGIN IMMEDIATE');
    try {
      const values = jobs.map((job) => job.run());
      database.exec('COMMIT');
      return values;
    } catch (error) {
      // After some errors SQLite has rolled back already.
      if (database.inTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };
  const fail = (jobs: readonly Job[], error: unknown): void => {
    const words = WORDS[codeOf(error) ?? ''];
    const told = words ? new Error(words(path), { cause: error }) : error;
    jobs.forEach((job) => job.failed(told));
  };

  const commit = (jobs: readonly Job[]): void => {
    try {
      const values = inTransaction(jobs);
      pauseMs = SOON_MS;
      jobs.forEach((job, index) => job.done(values[index]));
    } catch (error) {
      if (codeOf(error) === 'SQLITE_BUSY') tryAgain(jobs, error);
      else if (isOfSqlite(error) || jobs.length === 1) fail(jobs, error);
      else jobs.forEach((job) => commit([job])); // one bad job must not fail its neighbours
    }
  };
  const tryAgain = (jobs: readonly Job[], error: unknown): void => {
    const time = performance.now();
    fail(
      jobs.filter(({ until }) => until <= time),
      error,
    );
    waiting = [...jobs.filter(({ until }) => until > time), ...waiting];
    if (!waiting.length) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      commitAll();
    }, pauseMs);
    pauseMs = Math.min(LATER_MS, pauseMs * 2);
  };
  const commitAll = (): void => {
    const jobs = waiting;
    waiting = [];
    if (jobs.length) commit(jobs);
  };

  return {
    run: <Result>(work: () => Result): Promise<Result> =>
      new Promise<Result>((resolve, reject) => {
        const done = (value: unknown) => resolve(value as Result);
        const until = performance.now() + PATIENCE_MS;
        waiting.push({ run: work, done, failed: reject, until });
        if (waiting.length === 1 && !timer) setImmediate(commitAll);
      }),
    /** Commits what waits at once, and fails what cannot be written. To be called before the file is closed. */
    flush: (): void => {
      commitAll();
      clearTimeout(timer);
      const left = waiting;
      waiting = [];
      left.forEach((job) =>
        job.failed(new Error(`${path} was closed while another process had locked it`)),
      );
    },
  };
};

export type GroupCommit = ReturnType<typeof createGroupCommit>;
