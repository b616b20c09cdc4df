import type Database from 'libsql';
import { lineOf } from '../record.js';
import { PATIENCE, type QueuedRecord } from '../ports.js';
import { withVersion } from './file.js';

/** Of the tables of a queue, as `user_version` of the file. Files of version 1 have none. */
const VERSION = 2;

const kibOf = (record: string): string => `((length(CAST(${record} AS BLOB)) + 1023) / 1024)`;

/**
 * `records` has what waits. `due` is the time from which a record may be taken: 0 where it has not failed, null where it
 * stands behind an identify of its line, and the end of the time of who has it while it is taken.
 *
 * `sizes` has what is kept, in KiB, which triggers keep up to date, because adding it up would take longer the more there
 * is: `waiting`, `dead`, and both with a client behind them, such as `dead 3f9a`.
 */
const TABLES = `
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
  ${['records', 'dead']
    .map(
      (table) => `
  CREATE TRIGGER ${table}_added AFTER INSERT ON ${table} BEGIN ${change(table, 'new', '+')} END;
  CREATE TRIGGER ${table}_gone AFTER DELETE ON ${table} BEGIN ${change(table, 'old', '-')}
    DELETE FROM sizes WHERE count <= 0 AND name IN (${namesOf(table, 'old')}); END;`,
    )
    .join('')}
`;

function namesOf(table: string, row: string): string {
  const name = table === 'records' ? 'waiting' : 'dead';
  return `'${name}', '${name} ' || ${row}.client`;
}
function change(table: string, row: string, sign: string): string {
  return namesOf(table, row)
    .split(', ')
    .map(
      (name) => `
    INSERT INTO sizes (name, kib, count) VALUES (${name}, ${sign}${kibOf(`${row}.record`)}, ${sign}1)
      ON CONFLICT (name) DO UPDATE SET kib = kib + excluded.kib, count = count + excluded.count;`,
    )
    .join('');
}

interface OldRecord {
  id: string;
  record: string;
  attempts: number;
  token: string | null;
}

/** Takes over what version 1 has left. Its lanes were of a user, whoever had sent the records. */
const migrate = (database: Database.Database): void => {
  for (const name of ['weighed', 'unweighed', 'put', 'gone'])
    database.exec(`DROP TRIGGER IF EXISTS records_${name}`);
  database.exec(`
    ALTER TABLE records RENAME TO old_records;
    ALTER TABLE dead RENAME TO old_dead;
    DROP INDEX IF EXISTS records_of_lane;
    DROP INDEX IF EXISTS records_out;
    ${TABLES}
    INSERT INTO dead (seq, client, record, reason, died_at)
      SELECT seq, '', record, reason, died_at FROM old_dead ORDER BY seq;`);
  const insert = createInsert(database);
  const tried = database.prepare<unknown[]>('UPDATE records SET tries = ? WHERE id = ?');
  const old = database.prepare<unknown[]>(
    'SELECT id, record, attempts, token FROM old_records ORDER BY seq',
  );
  for (const { id, record, attempts, token } of old.all() as OldRecord[]) {
    insert(id, JSON.parse(record) as QueuedRecord);
    // What was out counts a try that nobody has seen fail.
    const tries = token ? attempts - 1 : attempts;
    if (tries > 0) tried.run(tries, id);
  }
  for (const name of ['old_records', 'old_dead', 'lanes', 'waiting', 'weight'])
    database.exec(`DROP TABLE IF EXISTS ${name}`);
};

/** Makes the tables of a queue, or takes over those of an older version. Refuses those of a newer one. */
export const prepareQueue = withVersion(VERSION, (database) => {
  const isOld = database.prepare<unknown[]>("SELECT 1 FROM sqlite_master WHERE name = 'lanes'");
  if (isOld.all().length) migrate(database);
  else database.exec(TABLES);
});

/** Returns a function that puts a record, if it does not wait already. */
export const createInsert = (database: Database.Database) => {
  // Behind an identify that has not failed often, an event has to wait; behind any, another identify.
  const insert = database.prepare<unknown[]>(`
    INSERT INTO records (id, client, line, is_identify, record, at, due)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN ?3 <> '' AND EXISTS (
      SELECT 1 FROM records WHERE line = ?3 AND is_identify = 1 AND line <> ''
        AND (?4 = 1 OR (due IS NOT NULL AND tries < ?7))
    ) THEN NULL ELSE 0 END
    WHERE true ON CONFLICT DO NOTHING`);
  return (id: string, record: QueuedRecord): void => {
    const { client = '', type, at } = record;
    const isIdentify = type === 'identify' ? 1 : 0;
    insert.run(id, client, lineOf(record), isIdentify, JSON.stringify(record), at, PATIENCE);
  };
};
