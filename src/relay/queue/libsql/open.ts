import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

const BUSY_TIMEOUT_MS = 10_000;

/**
 * Opens a database file that several processes may share, and creates it with its folder.
 *
 * `FULL`: a commit is on the disk before it returns, so what was acknowledged outlives a power cut, too.
 * https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export const openDatabase = (path: string, schema: string): Database.Database => {
  mkdirSync(dirname(path), { recursive: true });
  const database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec(schema);
  return database;
};
