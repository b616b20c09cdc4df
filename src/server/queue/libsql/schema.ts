import { ID_TABLES } from './ids.js';

/** Counts a row once for each KiB of it, for all clients and for its own. */
const resize = (name: string, row: 'new' | 'old', sign: '+' | '-'): string =>
  [`'${name}'`, `'${name} ' || ${row}.client`]
    .map(
      (key) => `
    INSERT INTO sizes (name, kib, count)
      VALUES (${key}, ${sign}((length(CAST(${row}.record AS BLOB)) + 1023) / 1024), ${sign}1)
      ON CONFLICT (name) DO UPDATE SET kib = kib + excluded.kib, count = count + excluded.count;`,
    )
    .join('');

const triggersOf = (table: string, name: string): string => `
  CREATE TRIGGER ${table}_added AFTER INSERT ON ${table} BEGIN ${resize(name, 'new', '+')} END;
  CREATE TRIGGER ${table}_gone AFTER DELETE ON ${table} BEGIN ${resize(name, 'old', '-')}
    DELETE FROM sizes WHERE count <= 0 AND name IN ('${name}', '${name} ' || old.client); END;`;

/**
 * `records` has the waiting records. `id` is the key of the record. `due` is the time from which it may be taken: 0 if
 * it has not failed, null while it has to wait behind an identify of its line, and while it is taken the end of that
 * time. `token` is the receipt of the consumer that has taken it.
 *
 * `sizes` has the sums of KiB and rows: `waiting`, `dead`, and both with a client after it, such as `dead 3f9a`.
 * Triggers keep them, because adding up takes the longer the more rows there are.
 */
export const QUEUE_TABLES = {
  version: 3,
  sql: `
  CREATE TABLE records (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    client TEXT NOT NULL,
    line TEXT NOT NULL,
    is_identify INTEGER NOT NULL,
    record TEXT NOT NULL,
    at INTEGER NOT NULL,
    due INTEGER,
    tries INTEGER NOT NULL DEFAULT 0,
    failed_at INTEGER NOT NULL DEFAULT 0,
    token TEXT
  );
  CREATE INDEX records_due ON records (due, seq) WHERE due IS NOT NULL;
  CREATE INDEX records_of_line ON records (line, is_identify, seq) WHERE line <> '';
  CREATE INDEX records_behind ON records (line, seq) WHERE due IS NULL;
  CREATE TABLE dead (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    client TEXT NOT NULL,
    record TEXT NOT NULL,
    reason TEXT NOT NULL,
    died_at INTEGER NOT NULL
  );
  CREATE INDEX dead_of_client ON dead (client, seq);
  CREATE TABLE sizes (name TEXT PRIMARY KEY, kib INTEGER NOT NULL, count INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE secret (one INTEGER PRIMARY KEY, secret TEXT NOT NULL);
  ${ID_TABLES}
  ${triggersOf('records', 'waiting')}
  ${triggersOf('dead', 'dead')}`,
};
