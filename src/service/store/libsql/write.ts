import type Database from 'libsql';
import { messageOf } from '../../../interface/errors.js';
import type { EventBody, IdentifyBody } from '../../../interface/bodies.js';
import { mergeProfile } from '../merge-profile.js';
import type { Incoming, Written } from '../port.js';

/** What SQLite says when it refuses the row itself. Anything else is trouble of the database, and ends the whole write. */
const OF_THE_ROW = /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/;

const isOfTheRow = (error: unknown): boolean =>
  OF_THE_ROW.test(String((error as { code?: unknown } | undefined)?.code));

interface StoredProfile {
  properties: string;
  times: string;
}

/** Returns the function that stores one record. It has to be called inside a transaction. */
export const createRecordWriter = (database: Database.Database) => {
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);
  const begin = prepare('SAVEPOINT record');
  const keep = prepare('RELEASE record');
  const undo = prepare('ROLLBACK TO record');
  const insert = prepare(`
    INSERT INTO rows (project, type, id, channel, event, user_id, body, called_at, received_at, client)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const countArrival = prepare(
    'UPDATE rows SET arrivals = arrivals + 1 WHERE project = ? AND type = ? AND id = ?',
  );
  const selectProfile = prepare(
    'SELECT properties, times FROM profiles WHERE project = ? AND user_id = ?',
  );
  const putProfile = prepare(`
    INSERT INTO profiles (project, user_id, properties, times, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (project, user_id) DO UPDATE
    SET properties = excluded.properties, times = excluded.times, updated_at = excluded.updated_at`);

  const merge = ({ body, calledAt, receivedAt }: Incoming): void => {
    const { project, user_id, properties } = body as IdentifyBody;
    const [stored] = selectProfile.all(project, user_id) as StoredProfile[];
    const kept = stored && {
      properties: JSON.parse(stored.properties) as Record<string, unknown>,
      times: JSON.parse(stored.times) as Record<string, string>,
    };
    const merged = mergeProfile(kept, properties, calledAt);
    const texts = [JSON.stringify(merged.properties), JSON.stringify(merged.times)];
    putProfile.run(project, user_id, ...texts, receivedAt, receivedAt);
  };

  const store = (record: Incoming): Written => {
    const { id, type, body, calledAt, receivedAt, client } = record;
    const { project, channel, event, user_id } = body as Partial<EventBody>;
    const { changes } = insert.run(
      ...[project, type, id, channel ?? null, event ?? null, user_id ?? null],
      ...[JSON.stringify(body), calledAt, receivedAt, client ?? null],
    );
    if (changes === 0) {
      countArrival.run(project, type, id);
      return { outcome: 'known' };
    }
    if (type === 'identify') merge(record);
    return { outcome: 'stored' };
  };

  return (record: Incoming): Written => {
    begin.run();
    try {
      const written = store(record);
      keep.run();
      return written;
    } catch (error) {
      if (!isOfTheRow(error)) throw error;
      undo.run();
      keep.run();
      return { outcome: 'dead', message: messageOf(error) };
    }
  };
};
