import type Database from 'libsql';
import type { DeadLetter, DeadLetters, QueuedRecord } from '../ports.js';
import type { GroupCommit } from './group-commit.js';

interface Effects {
  database: Database.Database;
  group: GroupCommit;
  /** Puts records into the queue, or says that it has no room. */
  putNow: (records: readonly QueuedRecord[]) => boolean;
  /** What is thrown where it has none. */
  full: () => Error;
  now: () => number;
}

interface Row {
  seq: number;
  record: string;
  reason: string;
  died_at: number;
}

const readRow = ({ seq, record, reason, died_at: diedAt }: Row): DeadLetter => ({
  id: String(seq),
  record: JSON.parse(record) as QueuedRecord,
  reason,
  diedAt,
});

export const createLibsqlDeadLetters = (effects: Effects): DeadLetters => {
  const { database, group, putNow, full, now } = effects;
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);
  const select = prepare(
    'SELECT seq, record, reason, died_at FROM dead WHERE seq > ? ORDER BY seq LIMIT ?',
  );
  const selectOne = prepare('SELECT seq, record, reason, died_at FROM dead WHERE seq = ?');
  const remove = prepare('DELETE FROM dead WHERE seq = ?');

  const resendNow = (ids: readonly string[]): number | 'full' => {
    const letters = ids.flatMap((id) => (selectOne.all(id) as Row[]).map(readRow));
    if (!putNow(letters.map(({ record }) => ({ ...record, at: now() })))) return 'full';
    letters.forEach(({ id }) => remove.run(id));
    return letters.length;
  };

  return {
    list: ({ limit = 100, after = '0' } = {}) =>
      group.run(() => (select.all(after, limit) as Row[]).map(readRow)),
    resend: async (ids) => {
      const resent = await group.run(() => resendNow(ids));
      // Thrown outside the transaction, which other writes share and which it would undo.
      if (resent === 'full') throw full();
      return resent;
    },
    purge: (ids) => group.run(() => ids.reduce((purged, id) => purged + remove.run(id).changes, 0)),
  };
};
