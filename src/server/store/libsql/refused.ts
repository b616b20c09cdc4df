import type Database from 'libsql';
import type { Incoming } from '../../incoming.js';
import { readDead, resentOf, writeDead } from '../dead-letter.js';
import { namesUser } from '../names-user.js';
import type { NewRefused, Refused, Resent, Span, Written } from '../port.js';
import { MAX_DEAD, MAX_DEAD_SIZE, MAX_REFUSED, refusedText } from '../refused-bounds.js';
import { storableText } from '../storable.js';

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

/** The refused. All but `read` have to be called inside a transaction. */
export const createRefused = (database: Database.Database) => {
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);
  const insert = prepare(`
    INSERT INTO refused (received_at, reason, status, message, id, type, project, user_id, body, client, record)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const sizeOf = prepare('SELECT count, size FROM refused_sizes WHERE is_dead = ?');
  const removeOldest = prepare(
    'DELETE FROM refused WHERE seq = (SELECT seq FROM refused WHERE is_dead = ? ORDER BY seq LIMIT 1)',
  );
  const isThere = prepare(
    'SELECT 1 FROM refused WHERE received_at = ? AND reason = ? AND message = ? AND body IS ?',
  );
  const dead = prepare('SELECT record FROM refused WHERE seq = ? AND record IS NOT NULL');
  const remove = prepare('DELETE FROM refused WHERE seq = ?');
  const removeDead = prepare('DELETE FROM refused WHERE seq = ? AND record IS NOT NULL');
  /** A dead record has died again, perhaps of something else. */
  const rename = prepare('UPDATE refused SET message = ? WHERE seq = ?');
  const removeBefore = prepare(
    'DELETE FROM refused WHERE seq IN (SELECT seq FROM refused WHERE received_at < ? LIMIT ?)',
  );
  const removeOfUser = prepare(`
    DELETE FROM refused
    WHERE (project IS NULL OR project = ?) AND (user_id = ? OR instr(record, ?) > 0)`);
  const bodies = prepare(
    'SELECT seq, body FROM refused WHERE is_dead = 0 AND (project IS NULL OR project = ?)',
  );

  const bodyOf = ({ body }: NewRefused): string | null =>
    body === undefined ? null : refusedText(body);

  const put = (one: NewRefused): void => {
    const record = one.record ? writeDead(one.record) : null;
    const texts = [one.id, one.type, one.project, one.user_id];
    insert.run(
      ...[one.received_at, one.reason, one.status, refusedText(one.message)],
      ...texts.map((text) => (text === undefined ? null : storableText(text))),
      ...[bodyOf(one), one.client ?? null, record],
    );
    const [isDead, max] = record ? [1, MAX_DEAD] : [0, MAX_REFUSED];
    for (;;) {
      const [kept] = sizeOf.all(isDead) as { count: number; size: number }[];
      if (kept!.count <= max && kept!.size <= MAX_DEAD_SIZE) return;
      removeOldest.run(isDead);
    }
  };

  return {
    put,
    /** Answers whether it was new. */
    adopt: (one: NewRefused): boolean => {
      const [known] = isThere.all(
        one.received_at,
        one.reason,
        refusedText(one.message),
        bodyOf(one),
      );
      if (!known) put(one);
      return !known;
    },
    dead: (seqs: readonly number[]): { seq: number; record: Incoming }[] =>
      seqs.flatMap((seq) => {
        const [row] = dead.all(seq) as { record: string }[];
        return row ? [{ seq, record: readDead(row.record) }] : [];
      }),
    read: ({ after = 0, before = Number.MAX_SAFE_INTEGER, limit, newest }: Span): Refused[] => {
      const rows = prepare(
        `SELECT seq, received_at, reason, status, message, id, type, project, user_id, body, client, is_dead
        FROM refused WHERE seq > ? AND seq < ? ORDER BY seq ${newest ? 'DESC' : 'ASC'} LIMIT ?`,
      ).all(after, before, limit) as StoredRefused[];
      return rows.map(readRefused);
    },
    /** Tries a dead record again. Undefined if there is none with this number. */
    resend: (seq: number, write: (record: Incoming) => Written): Resent | undefined => {
      const [row] = dead.all(seq) as { record: string }[];
      if (!row) return undefined;
      const written = write(readDead(row.record));
      if (written.outcome === 'dead') rename.run(refusedText(written.message), seq);
      else remove.run(seq);
      return resentOf(seq, written);
    },
    purge: (seqs: readonly number[]): number =>
      seqs.reduce((sum, seq) => sum + removeDead.run(seq).changes, 0),
    count: (): number => {
      const [sum] = prepare('SELECT sum(count) AS count FROM refused_sizes').all() as {
        count: number;
      }[];
      return sum!.count;
    },
    removeBefore: (time: string, limit: number): void => void removeBefore.run(time, limit),
    removeOfUser: (project: string, userId: string): void => {
      // A dead record is in our own spelling of JSON; what else was refused is as a stranger sent it.
      removeOfUser.run(project, userId, JSON.stringify(userId));
      for (const { seq, body } of bodies.all(project) as { seq: number; body: string | null }[])
        if (body !== null && namesUser(body, userId)) remove.run(seq);
    },
  };
};
