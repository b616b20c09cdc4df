import type Database from 'libsql';
import type { Incoming } from '../../incoming.js';
import { readDead, resentOf, writeDead } from '../dead-letter.js';
import { namesUser } from '../names-user.js';
import type { NewRefused, Refused, Resent, Span, Written } from '../port.js';
import { MAX_DEAD, MAX_DEAD_SIZE, MAX_REFUSED, refusedText } from '../refused-bounds.js';
import { storableText } from '../storable.js';
import type { Writer } from './connections.js';

interface StoredRefused {
  seq: number;
  received_at: string;
  reason: Refused['reason'];
  status: number;
  message: string;
  id: string | null;
  type: Refused['type'] | null;
  project: string | null;
  user_id: string | null;
  body: string | null;
  client: string | null;
  is_dead: number;
}

const readRefused = ({ is_dead, ...row }: StoredRefused): Refused => {
  const known = Object.entries(row).filter(([, value]) => value !== null);
  return { ...(Object.fromEntries(known) as unknown as Refused), ...(is_dead && { isDead: true }) };
};

const COLUMNS = [
  ...(['received_at', 'reason', 'status', 'message', 'id', 'type', 'project'] as const),
  ...(['user_id', 'body', 'client', 'record'] as const),
];

const valuesOf = ({ record, ...one }: NewRefused): unknown[] => {
  const text = (given: string | undefined) => given && storableText(given);
  const values: Readonly<Partial<Record<(typeof COLUMNS)[number], unknown>>> = {
    ...one,
    ...{ message: refusedText(one.message), body: one.body && refusedText(one.body) },
    ...{ id: text(one.id), project: text(one.project), user_id: text(one.user_id) },
    record: record && writeDead(record),
  };
  return COLUMNS.map((name) => values[name]);
};

/** Writes the refused. Its methods have to be called inside a transaction. */
export const createRefusedWriter = ({ prepare, prepareChange }: Writer) => {
  const insert = (condition: string) =>
    prepareChange(`
      INSERT INTO refused (${COLUMNS.join(', ')})
      SELECT ${COLUMNS.map((name, index) => `value->>${index} AS ${name}`).join(', ')}
      FROM json_each(?) WHERE ${condition}`);
  const insertAll = insert('TRUE');
  const insertNew = insert(`NOT EXISTS (
    SELECT 1 FROM refused AS r WHERE r.received_at = value->>0 AND r.reason = value->>1
      AND r.message = value->>3 AND r.body IS value->>8)`);
  const sizeOf = prepare('SELECT count, size FROM refused_sizes WHERE is_dead = ?');
  const removeOldest = prepare(
    'DELETE FROM refused WHERE seq IN (SELECT seq FROM refused WHERE is_dead = ? ORDER BY seq LIMIT ?)',
  );
  const dead = prepare('SELECT record FROM refused WHERE seq = ? AND record IS NOT NULL');
  const remove = prepare('DELETE FROM refused WHERE seq = ?');
  const removeDead = prepareChange(
    'DELETE FROM refused WHERE seq IN (SELECT value FROM json_each(?)) AND record IS NOT NULL',
  );
  const rename = prepare('UPDATE refused SET message = ? WHERE seq = ?');
  const removeBefore = prepare('DELETE FROM refused WHERE received_at < ?');
  const removeOfUser = prepare(`
    DELETE FROM refused
    WHERE (project IS NULL OR project = ?) AND (user_id = ? OR instr(record, ?) > 0)`);
  const bodies = prepare(
    'SELECT seq, body FROM refused WHERE is_dead = 0 AND (project IS NULL OR project = ?)',
  );

  /** Removes the oldest of a kind until the bounds hold. */
  const trim = async (isDead: number, max: number): Promise<void> => {
    const [kept] = await sizeOf<{ count: number; size: number }>(isDead);
    const { count, size } = kept!;
    if (count <= max && size <= MAX_DEAD_SIZE) return;
    await removeOldest(isDead, Math.max(1, count - max));
    await trim(isDead, max);
  };
  const put = async (all: readonly NewRefused[], statement = insertAll): Promise<number> => {
    if (!all.length) return 0;
    const added = await statement(JSON.stringify(all.map(valuesOf)));
    await trim(0, MAX_REFUSED);
    await trim(1, MAX_DEAD);
    return added;
  };

  return {
    put,
    /** Keeps those that are not here yet, and returns how many that were. */
    adopt: (all: readonly NewRefused[]): Promise<number> => put(all, insertNew),
    /** Writes dead records again, and returns what became of each that was there. */
    resend: async (
      seqs: readonly number[],
      write: (records: readonly Incoming[]) => Promise<Written[]>,
    ): Promise<Resent[]> => {
      const letters: { seq: number; record: Incoming }[] = [];
      for (const seq of seqs)
        for (const { record } of await dead<{ record: string }>(seq))
          letters.push({ seq, record: readDead(record) });
      const written = await write(letters.map(({ record }) => record));
      const resent = letters.map(({ seq }, index) => resentOf(seq, written[index]!));
      for (const one of resent) {
        // The database may refuse it for another reason this time.
        if (one.outcome === 'dead') await rename(refusedText(one.message), one.seq);
        else await remove(one.seq);
      }
      return resent;
    },
    purge: (seqs: readonly number[]): Promise<number> => removeDead(JSON.stringify(seqs)),
    removeBefore,
    removeOfUser: async (project: string, userId: string): Promise<void> => {
      // The record of a dead one is JSON as we write it. The other bodies are as strangers sent them.
      await removeOfUser(project, userId, JSON.stringify(userId));
      for (const { seq, body } of await bodies<{ seq: number; body: string | null }>(project))
        if (body !== null && namesUser(body, userId)) await remove(seq);
    },
  };
};

/** Reads the refused. */
export const createRefusedReader = (database: Database.Database) => {
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);
  const dead = prepare('SELECT record FROM refused WHERE seq = ? AND record IS NOT NULL');
  const countAll = prepare('SELECT sum(count) AS count FROM refused_sizes');
  const countOf = prepare('SELECT count(*) AS count FROM refused WHERE project = ?');

  return {
    dead: (seqs: readonly number[]): { seq: number; record: Incoming }[] =>
      seqs.flatMap((seq) => {
        const [row] = dead.all(seq) as { record: string }[];
        return row ? [{ seq, record: readDead(row.record) }] : [];
      }),
    read: (
      { after = 0, before = Number.MAX_SAFE_INTEGER, limit, newest }: Span,
      project?: string,
    ): Refused[] => {
      const isOfProject = project === undefined ? '' : 'AND project = ?';
      const values = project === undefined ? [] : [storableText(project)];
      const rows = prepare(
        `SELECT seq, received_at, reason, status, message, id, type, project, user_id, body, client, is_dead
        FROM refused WHERE seq > ? AND seq < ? ${isOfProject} ORDER BY seq ${newest ? 'DESC' : 'ASC'} LIMIT ?`,
      ).all(after, before, ...values, limit) as StoredRefused[];
      return rows.map(readRefused);
    },
    count: (project?: string): number => {
      const rows = project === undefined ? countAll.all() : countOf.all(storableText(project));
      return (rows as [{ count: number }])[0].count;
    },
  };
};
