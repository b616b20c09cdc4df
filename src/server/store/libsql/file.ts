import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import Database from 'libsql';
import { FILE_MODE, FOLDER_MODE } from '../../private-files.js';
import type { Room } from '../port.js';

/** How long a statement waits for a locked file at the start of a process. */
const OPEN_TIMEOUT_MS = 10_000;
/** How long it waits after the start. Then a timer tries the statement again. */
export const BUSY_TIMEOUT_MS = 5;
/** How long a job waits for a file that another process has locked. */
const PATIENCE_MS = 10_000;
/** The shortest and the longest pause before a locked file is tried again. */
const [SOON_MS, LATER_MS] = [10, 200];

/** The pause before a locked file is tried again, or undefined if a job has waited for too long. */
export const busyPauseMs = (waitedMs: number): number | undefined =>
  waitedMs < PATIENCE_MS ? Math.min(LATER_MS, SOON_MS + waitedMs) : undefined;

/** The tables of a file. */
export interface Tables {
  /** Kept as `user_version`. */
  version: number;
  /** What takes the tables of an older version to this one, and makes them in a new file, which has the version 0. */
  sqlFrom: (version: number) => string;
}

/**
 * Opens a database file that several processes may share, and creates it with its folder and tables.
 *
 * `FULL`: a commit is on the disk before it returns, so what was acknowledged outlives a power cut, too.
 * https://www.sqlite.org/pragma.html#pragma_synchronous
 *
 * @throws Error in words, if the file holds data of another version.
 */
export const openDatabase = (path: string, tables: Tables) => {
  if (path !== ':memory:') makeFile(path);
  const database = new Database(path, { timeout: OPEN_TIMEOUT_MS });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  makeTables(database, path, tables);
  database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  const inodeNow = () => statSync(path, { throwIfNoEntry: false })?.ino;
  const inode = inodeNow();
  return {
    database,
    /** Throws if the file is gone. SQLite would go on writing into the deleted file. */
    checkPlace: (): void => {
      if (inodeNow() !== inode) throw new Error(`${path} was deleted or replaced`);
    },
  };
};

/** Makes the file with its folder. SQLite gives its log the rights of the file. */
const makeFile = (path: string): void => {
  makeFolder(dirname(path));
  if (!existsSync(path)) closeSync(openSync(path, 'a', FILE_MODE));
};

/** Makes a folder and those above it. Node's `recursive` never returns if a folder below `/proc` is refused. */
const makeFolder = (path: string): void => {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, FOLDER_MODE);
  } catch (error) {
    if (!existsSync(path)) throw error; // another process may have been faster
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

const makeTables = (
  database: Database.Database,
  path: string,
  { version, sqlFrom }: Tables,
): void => {
  const versionNow = () =>
    (database.pragma('user_version') as { user_version: number }[])[0]!.user_version;
  if (versionNow() === version) return;
  // If several processes start, one makes the tables, and the others wait here.
  inTransaction(database, () => {
    const found = versionNow();
    if (found === version) return;
    const isOther = !found && database.prepare('SELECT 1 FROM sqlite_master').all().length > 0;
    if (isOther || found > version) {
      throw new Error(
        `${path} holds data of version ${found || 'before 1'}, and this program knows version ` +
          `${version}: run the program that has written it, or name another file`,
      );
    }
    database.exec(`${sqlFrom(found)}; PRAGMA user_version = ${version}`);
  });
};

/** Words for operators, in place of errors that do not say where to look. */
const WORDS: Readonly<Record<string, (path: string) => string>> = {
  SQLITE_BUSY: (path) => `another process has locked ${path}`,
  SQLITE_FULL: (path) => `the disk is full: ${path} cannot grow`,
  SQLITE_READONLY: (path) =>
    `${path} may not be written to: look at the rights of the file and its folder`,
  SQLITE_CANTOPEN: (path) => `${path} cannot be opened: look whether its folder is there`,
};

/** The code of an error of SQLite. The asynchronous connection has been seen to give a locked file the code SQLITE_OK. */
export const codeOf = (error: unknown): string | undefined => {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (message === 'database is locked') return 'SQLITE_BUSY';
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
};

/** An error of SQLite in words for operators. */
export const inWords = (error: unknown, path: string): unknown => {
  const words = WORDS[codeOf(error) ?? '']?.(path);
  return words ? new Error(words, { cause: error }) : error;
};

/** What has to be free before a disk that was full counts as having room again. */
const ROOM = 16 * 1_048_576;

/** How much room the disk of a file has; undefined if its file system does not say so. */
export const roomOf = async (path: string): Promise<Room | undefined> => {
  if (path === ':memory:') return undefined;
  const { bavail, bsize, blocks } = await statfs(dirname(path));
  return blocks ? { free: bavail * bsize, size: blocks * bsize } : undefined;
};

/** Rejects if the disk of a file is nearly full. A file system that does not say how much is free counts as having room. */
export const checkRoom = async (path: string): Promise<void> => {
  const room = await roomOf(path);
  if (room && room.free < ROOM) throw new Error(WORDS['SQLITE_FULL']!(path));
};
