import type { Dropped } from '../../hooks.js';
import type { idBoundsOf } from '../ports.js';
import type { openFile } from '../../store/libsql/file.js';

/** How many expired ids are deleted by a transaction that adds some, so that the table shrinks faster than it grows. */
const SWEEP = 200;

/** The ids that were put, with their senders. `id_counts` has the number of ids of each sender, and of all under ''. */
export const ID_TABLES = `
  CREATE TABLE ids (id TEXT PRIMARY KEY, until INTEGER NOT NULL, sender TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX ids_until ON ids (until);
  CREATE INDEX ids_of_sender ON ids (sender, until);
  CREATE TABLE id_counts (sender TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX id_counts_by_count ON id_counts (count);`;

/** Senders that cannot be told apart are one. */
const NOBODY = '-';

/** The ids that a queue knows. Its methods have to be called inside a transaction. */
export const createIds = (
  { prepare }: Pick<ReturnType<typeof openFile>, 'prepare'>,
  { idAge, maxIds, maxIdsOfClient }: ReturnType<typeof idBoundsOf>,
) => {
  const find = prepare('SELECT until FROM ids WHERE id = ?');
  const insert = prepare('INSERT INTO ids (id, until, sender) VALUES (?, ?, ?)');
  const deleteWhere = (condition: string) =>
    prepare(`DELETE FROM ids WHERE ${condition} RETURNING sender`);
  const deleteExpired = deleteWhere(
    `id IN (SELECT id FROM ids WHERE until <= ? ORDER BY until LIMIT ${SWEEP})`,
  );
  const deleteOne = deleteWhere('id = ?');
  const deleteOldestOf = deleteWhere(
    'id = (SELECT id FROM ids WHERE sender = ? ORDER BY until LIMIT 1)',
  );
  const resize = prepare(`
    INSERT INTO id_counts (sender, count) VALUES (?1, ?2)
    ON CONFLICT (sender) DO UPDATE SET count = count + ?2`);
  const dropEmpty = prepare(
    "DELETE FROM id_counts WHERE sender = ? AND count <= 0 AND sender <> ''",
  );
  const countOf = prepare('SELECT count FROM id_counts WHERE sender = ?');
  const largest = prepare(
    "SELECT sender FROM id_counts WHERE sender <> '' ORDER BY count DESC LIMIT 1",
  );

  const change = (sender: string, by: number): void => {
    for (const whose of [sender, '']) resize.run(whose, by);
    dropEmpty.run(sender);
  };
  /** Returns how many there were. */
  const forget = (statement: typeof deleteExpired, which: string | number): number => {
    const rows = statement.all(which) as { sender: string }[];
    for (const { sender } of rows) change(sender, -1);
    return rows.length;
  };
  const isOver = (sender: string, most: number): boolean =>
    ((countOf.all(sender) as { count: number }[])[0]?.count ?? 0) > most;

  return {
    /** Deletes an id whose time is over. */
    isKnown: (id: string, now: number): boolean => {
      const [found] = idAge > 0 ? (find.all(id) as { until: number }[]) : [];
      if (found && found.until <= now) forget(deleteOne, id);
      return !!found && found.until > now;
    },
    /** Keeps new ids of one sender, and returns how many others were deleted for them. */
    keep: (ids: readonly string[], sender: string | undefined, now: number): Dropped => {
      if (idAge === 0 || !ids.length) return {};
      forget(deleteExpired, now);
      const whose = sender || NOBODY;
      for (const id of ids) insert.run(id, now + idAge, whose);
      change(whose, ids.length);
      const gone = { maxIds: 0, maxIdsOfClient: 0 };
      while (sender && isOver(whose, maxIdsOfClient))
        gone.maxIdsOfClient += forget(deleteOldestOf, whose);
      while (isOver('', maxIds))
        gone.maxIds += forget(deleteOldestOf, (largest.all() as { sender: string }[])[0]!.sender);
      return gone;
    },
  };
};
