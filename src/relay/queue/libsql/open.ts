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
