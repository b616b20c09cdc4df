import type Database from 'libsql';

/** Is raised with every change of the schema, and each file is taken there by a step of `STEPS`. */
const VERSION = 1;

/**
 * AUTOINCREMENT: a place in the feed is never given twice, not even after everything was deleted. One process writes
 * at a time, so places appear in their order.
 *
 * `counts` is kept by triggers: counting rows takes longer the more there are, and holds up all other work.
 * `refused` is kept small by its own trigger's figures, in `refused_size`.
 */
const STEPS: readonly string[] = [
  `
  CREATE TABLE rows (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    channel TEXT,
    event TEXT,
    user_id TEXT,
    body TEXT NOT NULL,
    called_at TEXT NOT NULL,
    received_at TEXT NOT NULL,
    arrivals INTEGER NOT NULL DEFAULT 1,
    client TEXT,
    UNIQUE (project, type, id)
  );
  CREATE INDEX rows_of_user ON rows (project, user_id) WHERE user_id IS NOT NULL;
  CREATE INDEX rows_by_arrival ON rows (received_at);

  CREATE TABLE counts (
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    rows INTEGER NOT NULL,
    PRIMARY KEY (project, type)
  ) WITHOUT ROWID;
  CREATE TRIGGER rows_counted AFTER INSERT ON rows BEGIN
    INSERT INTO counts VALUES (new.project, new.type, 1)
      ON CONFLICT DO UPDATE SET rows = rows + 1;
  END;
  CREATE TRIGGER rows_uncounted AFTER DELETE ON rows BEGIN
    UPDATE counts SET rows = rows - 1 WHERE project = old.project AND type = old.type;
  END;

  CREATE TABLE profiles (
    project TEXT NOT NULL,
    user_id TEXT NOT NULL,
    properties TEXT NOT NULL,
    times TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (project, user_id)
  ) WITHOUT ROWID;

  CREATE TABLE refused (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    received_at TEXT NOT NULL,
    reason TEXT NOT NULL,
    status INTEGER NOT NULL,
    message TEXT NOT NULL,
    id TEXT,
    type TEXT,
    project TEXT,
    body TEXT,
    client TEXT,
    record TEXT,
    bytes INTEGER NOT NULL
  );
  CREATE TABLE refused_size (count INTEGER NOT NULL, bytes INTEGER NOT NULL);
  INSERT INTO refused_size VALUES (0, 0);
  CREATE TRIGGER refused_counted AFTER INSERT ON refused BEGIN
    UPDATE refused_size SET count = count + 1, bytes = bytes + new.bytes;
  END;
  CREATE TRIGGER refused_uncounted AFTER DELETE ON refused BEGIN
    UPDATE refused_size SET count = count - 1, bytes = bytes - old.bytes;
  END;
  `,
];

const versionOf = (database: Database.Database): number => {
  const [row] = database.pragma('user_version') as { user_version: number }[];
  return row!.user_version;
};

/** Makes the tables, or takes an older file to the form of today. Two processes may do so at once. */
export const migrate = (database: Database.Database, path: string): void => {
  const found = versionOf(database);
  if (found > VERSION) {
    throw new Error(
      `${path} was written by a newer version of analytics-outbox (its data has version ${found}, this ` +
        `program knows ${VERSION}). Run the newer version, or name another file.`,
    );
  }
  if (found === VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been faster while this one waited.
    for (const step of STEPS.slice(versionOf(database))) database.exec(step);
    database.exec(`PRAGMA user_version = ${VERSION}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
};
