import type Database from 'libsql';
import { messageOf } from '../../../interface/errors.js';
import type { EventBody, IdentifyBody } from '../../../interface/bodies.js';
import type { Incoming } from '../../incoming.js';
import { isoTime } from '../../iso-time.js';
import type { Profile, Row, Written } from '../port.js';
import type { Profiles } from './profiles.js';

/** What SQLite says when it refuses the row itself. Anything else is trouble of the database, and ends the whole write. */
const OF_THE_ROW = /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/;

const isOfTheRow = (error: unknown): boolean =>
  OF_THE_ROW.test(String((error as { code?: unknown } | undefined)?.code));

/** Returns the functions that write. All of them have to be called inside a transaction. */
export const createWriter = (database: Database.Database, profiles: Profiles) => {
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);
  const begin = prepare('SAVEPOINT record');
  const keep = prepare('RELEASE record');
  const undo = prepare('ROLLBACK TO record');
  const insert = prepare(`
    INSERT INTO rows (project, type, id, channel, event, user_id, body, called_at, received_at, arrivals, client)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const countArrival = prepare(
    'UPDATE rows SET arrivals = arrivals + 1 WHERE project = ? AND type = ? AND id = ?',
  );

  /** Answers whether the row is new. */
  const insertRow = ({ body, ...row }: Omit<Row, 'seq'>, text = JSON.stringify(body)): boolean => {
    const { channel = null, event = null, user_id = null } = body as Partial<EventBody>;
    const { changes } = insert.run(
      ...[row.project, row.type, row.id, channel, event, user_id, text],
      ...[row.called_at, row.received_at, row.arrivals, row.client ?? null],
    );
    return changes > 0;
  };

  const store = ({ id, type, body, text, client, calledAt, receivedAt }: Incoming): Written => {
    const { project, user_id, properties } = body as IdentifyBody;
    const received_at = isoTime(receivedAt) ?? receivedAt;
    const called_at = isoTime(calledAt) ?? received_at;
    const row = { id, type, project, body, called_at, received_at, arrivals: 1 };
    if (!insertRow({ ...row, ...(client !== undefined && { client }) }, text)) {
      countArrival.run(project, type, id);
      return { outcome: 'known' };
    }
    if (type === 'event') return { outcome: 'stored' };
    const times = { created_at: received_at, updated_at: received_at };
    return profiles.merge({ project, user_id, properties, set_at: called_at, ...times });
  };

  /** A row that the database refuses is dead; nothing else is. */
  const unlessDead = (work: () => Written): Written => {
    try {
      return work();
    } catch (error) {
      if (!isOfTheRow(error)) throw error;
      return { outcome: 'dead', message: messageOf(error) };
    }
  };

  /** Work of several statements: if the database refuses one of them, none of them has been done. */
  const asOne = (work: () => Written): Written => {
    begin.run();
    const written = unlessDead(work);
    if (written.outcome === 'dead') undo.run();
    keep.run();
    return written;
  };

  return {
    // An event is one statement, which SQLite undoes by itself.
    write: (record: Incoming): Written =>
      (record.type === 'event' ? unlessDead : asOne)(() => store(record)),
    /** Takes over a row of another store. */
    adopt: (row: Omit<Row, 'seq'>): Written =>
      unlessDead(() => ({ outcome: insertRow(row) ? 'stored' : 'known' })),
    /** Merges a profile of another store. */
    adoptProfile: (profile: Profile): Written => profiles.merge(profile),
  };
};
