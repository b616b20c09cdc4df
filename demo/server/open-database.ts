import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

/**
 * The unique indexes are what makes a repeated Idempotency-Key store nothing, whoever races. The key
 * belongs to one operation of one project, so that two projects cannot silence each other.
 * AUTOINCREMENT: an id is never given twice, not even after everything was deleted, so `?after=`
 * stays right.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    channel TEXT NOT NULL,
    event TEXT NOT NULL,
    description TEXT,
    icon TEXT,
    notify INTEGER NOT NULL,
    tags TEXT NOT NULL,
    user_id TEXT,
    timestamp TEXT NOT NULL,
    received_at TEXT NOT NULL,
    idempotency_key TEXT
  );
  CREATE INDEX IF NOT EXISTS events_of_project ON events (project, user_id);
  CREATE UNIQUE INDEX IF NOT EXISTS events_once
    ON events (project, idempotency_key) WHERE idempotency_key IS NOT NULL;

  CREATE TABLE IF NOT EXISTS identifies (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    user_id TEXT NOT NULL,
    properties TEXT NOT NULL,
    received_at TEXT NOT NULL,
    idempotency_key TEXT
  );
  CREATE INDEX IF NOT EXISTS identifies_of_project ON identifies (project, user_id);
  CREATE UNIQUE INDEX IF NOT EXISTS identifies_once
    ON identifies (project, idempotency_key) WHERE idempotency_key IS NOT NULL;

  CREATE TABLE IF NOT EXISTS profiles (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    user_id TEXT NOT NULL,
    properties TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (project, user_id)
  );
`;

const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the database file, and creates it with its folder.
 *
 * In WAL with `synchronous = NORMAL` a commit has handed its pages to the operating system, so it
 * outlives a killed process. It may not outlive a power cut; that would need `FULL`.
 * https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export function openDatabase(path: string): Database.Database {
  mkdirSync(dirname(path), { recursive: true });
  const database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.exec(SCHEMA);
  return database;
}
