import type Database from 'libsql';
import type { Incoming, NewRefused, Refused, Resent, Span, Written } from '../port.js';

/** What is kept of refused requests and records, at the most. Beyond it the oldest go. */
const MAX_COUNT = 10_000;
const MAX_BYTES = 32 * 1_048_576;
const MAX_BODY = 4_096;

interface StoredRefused {
  seq: number;
  received_at: string;
  reason: Refused['reason'];
  status: number;
  message: string;
  id: string | null;
  type: Refused['type'] | null;
  project: string | null;
  body: string | null;
  client: string | null;
  record: string | null;
}

const readRefused = ({ record, ...row }: StoredRefused): Refused => {
  const known = Object.entries(row).filter(([, value]) => value !== null);
  return { ...(Object.fromEntries(known) as unknown as Refused), ...(record && { isDead: true }) };
};

/** The refused. All but `read` have to be called inside a transaction. */
export const createRefused = (database: Database.Database) => {
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);
  const insert = prepare(`
    INSERT INTO refused (received_at, reason, status, message, id, type, project, body, client, record, bytes)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const size = prepare('SELECT count, bytes FROM refused_size');
  const removeOldest = prepare(
    'DELETE FROM refused WHERE seq = (SELECT seq FROM refused ORDER BY seq LIMIT 1)',
  );
  const dead = prepare('SELECT record FROM refused WHERE seq = ? AND record IS NOT NULL');
  const remove = prepare('DELETE FROM refused WHERE seq = ?');
  const removeBefore = prepare(
    'DELETE FROM refused WHERE seq IN (SELECT seq FROM refused WHERE received_at < ? LIMIT ?)',
  );
  // What a stranger sent may be no JSON, or name the user in another place: rather too much goes than too little.
  const removeOfUser = prepare(`
    DELETE FROM refused
    WHERE (project IS NULL OR project = ?) AND (instr(body, ?) > 0 OR instr(record, ?) > 0)`);

  const put = (one: NewRefused): void => {
    const body = one.body?.slice(0, MAX_BODY);
    const record = one.record && JSON.stringify(one.record);
    const texts = [one.message, one.id, one.project, body, record];
    const bytes = texts.reduce((sum, text) => sum + (text?.length ?? 0), 200);
    insert.run(
      ...[one.received_at, one.reason, one.status, one.message, one.id ?? null, one.type ?? null],
      ...[one.project ?? null, body ?? null, one.client ?? null, record ?? null, bytes],
    );
    for (;;) {
      const [now] = size.all() as { count: number; bytes: number }[];
      if (now!.count <= MAX_COUNT && now!.bytes <= MAX_BYTES) return;
      removeOldest.run();
    }
  };

  return {
    put,
    read: ({ after = 0, before = Number.MAX_SAFE_INTEGER, limit, newest }: Span): Refused[] => {
      const rows = prepare(
        `SELECT seq, received_at, reason, status, message, id, type, project, body, client, record IS NOT NULL AS record
        FROM refused WHERE seq > ? AND seq < ? ORDER BY seq ${newest ? 'DESC' : 'ASC'} LIMIT ?`,
      ).all(after, before, limit) as (Omit<StoredRefused, 'record'> & { record: number })[];
      return rows.map((row) => readRefused({ ...row, record: row.record ? 'kept' : null }));
    },
    /** Tries a dead record again. Undefined if there is none with this number. */
    resend: (seq: number, write: (record: Incoming) => Written): Resent | undefined => {
      const [row] = dead.all(seq) as { record: string }[];
      if (!row) return undefined;
      const written = write(JSON.parse(row.record) as Incoming);
      if (written.outcome !== 'dead') remove.run(seq);
      return { seq, ...written };
    },
    removeBefore: (time: string, limit: number): void => void removeBefore.run(time, limit),
    removeOfUser: (project: string, userId: string): void => {
      const text = JSON.stringify(userId);
      removeOfUser.run(project, text, text);
    },
  };
};
