import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

/** How long a locked file may hold up the start of a process. */
const OPEN_TIMEOUT_MS = 10_000;
/** How long it may hold up all other work after that. Then it is tried again from a timer. */
const BUSY_TIMEOUT_MS = 5;
/** How long the oldest job waits for a file that another process has locked. Then all that wait fail. */
const PATIENCE_MS = 10_000;
/** Between two tries at a locked file: from the first of these to the second. */
const [SOON_MS, LATER_MS] = [10, 200];

/** The tables of a file. */
interface Tables {
  /** Kept as `user_version`. */
  version: number;
  /** Makes them in a new file. */
  sql: string;
}

/** Does the jobs of a transaction, and what has to be done once for all of them. */
type Around = <Result>(jobs: () => Result) => Result;

/**
 * Opens a database file that several processes may share, and creates it with its folder.
 *
 * `FULL`: a commit is on the disk before it returns, so what was acknowledged outlives a power cut, too.
 * https://www.sqlite.org/pragma.html#pragma_synchronous
 *
 * @throws Error in words, when what stands in the file is of another version.
 */
export const openFile = (path: string, tables: Tables, around: Around = (jobs) => jobs()) => {
  makeFolder(dirname(path));
  const database = new Database(path, { timeout: OPEN_TIMEOUT_MS });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  makeTables(database, path, tables);
  database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  const inodeNow = () => statSync(path, { throwIfNoEntry: false })?.ino;
  const inode = inodeNow();
  const { run, flush } = createGroupCommit(database, path, around);

  return {
    database,
    prepare: (sql: string) => database.prepare<unknown[]>(sql),
    run,
    /** As `run`, but rejects when the file is not there: SQLite goes on writing to one that nobody finds again. */
    runIfThere: async <Result>(work: () => Result): Promise<Result> => {
      if (inodeNow() !== inode) throw new Error(`${path} was deleted or replaced`);
      return run(work);
    },
    /** Commits what waits, and closes the file. */
    close: (): void => {
      flush();
      database.close();
    },
  };
};

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

const inTransaction = <Result>(database: Database.Database, work: () => Result): Result => {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // After some errors SQLite has rolled back already.
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
};

const makeTables = (database: Database.Database, path: string, { version, sql }: Tables): void => {
  const versionNow = () =>
    (database.pragma('user_version') as { user_version: number }[])[0]!.user_version;
  if (versionNow() === version) return;
  // Of several processes that start, one makes the tables, and the others wait here.
  inTransaction(database, () => {
    const found = versionNow();
    if (found === version) return;
    if (found > 0 || database.prepare('SELECT 1 FROM sqlite_master').all().length) {
      throw new Error(
        `${path} holds data of version ${found || 'before 1'}, and this program knows version ` +
          `${version}: run the program that has written it, or name another file`,
      );
    }
    database.exec(`${sql}; PRAGMA user_version = ${version}`);
  });
};

/** In words of an operator, where SQLite's own do not say where to look. */
const WORDS: Readonly<Record<string, (path: string) => string>> = {
  SQLITE_BUSY: (path) => `another process has locked ${path}`,
  SQLITE_FULL: (path) => `the disk is full: ${path} cannot grow`,
  SQLITE_READONLY: (path) =>
    `${path} may not be written to: look at the rights of the file and its folder`,
  SQLITE_CANTOPEN: (path) => `${path} cannot be opened: look whether its folder is there`,
};

interface Job {
  run: () => unknown;
  done: (value: unknown) => void;
  failed: (error: unknown) => void;
  /** By `performance.now()`. */
  since: number;
}

/**
 * Runs all jobs of one turn of the event loop in one transaction, and settles each after the commit. A
 * commit waits for the disk and costs far more than a row. The calls are synchronous, so a file that another process
 * has locked is tried again from a timer.
 */
const createGroupCommit = (database: Database.Database, path: string, around: Around) => {
  let waiting: Job[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const failAll = (jobs: readonly Job[], error: unknown, code = ''): void => {
    const words = WORDS[code]?.(path);
    const told = words ? new Error(words, { cause: error }) : error;
    jobs.forEach((job) => job.failed(told));
  };

  const commit = (jobs: readonly Job[]): void => {
    try {
      const values = inTransaction(database, () => around(() => jobs.map(({ run }) => run())));
      jobs.forEach((job, index) => job.done(values[index]));
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === 'SQLITE_BUSY') commitLater(jobs, error);
      else if (code?.startsWith('SQLITE_') || jobs.length === 1) failAll(jobs, error, code);
      else jobs.forEach((job) => commit([job])); // one bad job must not fail its neighbours
    }
  };
  const commitLater = (jobs: readonly Job[], error: unknown): void => {
    const waitedMs = performance.now() - jobs[0]!.since;
    if (waitedMs >= PATIENCE_MS) return failAll(jobs, error, 'SQLITE_BUSY');
    waiting = [...jobs, ...waiting];
    timer ??= setTimeout(commitAll, Math.min(LATER_MS, SOON_MS + waitedMs));
  };
  const commitAll = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const jobs = waiting;
    waiting = [];
    if (jobs.length) commit(jobs);
  };

  return {
    run: <Result>(work: () => Result): Promise<Result> =>
      new Promise<Result>((resolve, reject) => {
        const done = (value: unknown) => resolve(value as Result);
        waiting.push({ run: work, done, failed: reject, since: performance.now() });
        if (waiting.length === 1 && !timer) setImmediate(commitAll);
      }),
    /** Commits what waits at once, and fails what cannot be written. */
    flush: (): void => {
      commitAll();
      clearTimeout(timer);
      failAll(waiting, new Error(`${path} was closed while another process had locked it`));
      waiting = [];
    },
  };
};
