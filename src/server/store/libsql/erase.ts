import type Database from 'libsql';
import type { ErasureParts } from '../erasures.js';
import type { Erased } from '../port.js';
import type { Writer } from './connections.js';
import type { ProfileWriter } from './profiles.js';
import { createSteps } from './steps.js';

/** The columns that an erasure names, with the condition that a row has to meet. */
const CONDITIONS = {
  project: 'project = ?',
  user_id: 'user_id = ?',
  channel: 'channel = ?',
  event: 'event = ?',
  from: 'received_at >= ?',
  to: 'received_at < ?',
} satisfies Record<keyof Erased, string>;

/** Finds the rows of an erasure. */
export const createErasureFinder = (database: Database.Database): ErasureParts['find'] => {
  const steps = createSteps(database);

  return async function* find(erased, upto) {
    const given = Object.entries(CONDITIONS).flatMap(([name, sql]) => {
      const value = erased[name as keyof Erased];
      return value === undefined ? [] : [{ sql, value }];
    });
    // By another index than that of users, SQLite would look through a whole project at each step.
    const index = erased.user_id === undefined ? 'NOT INDEXED' : 'INDEXED BY rows_of_user';
    const look = database.prepare<unknown[]>(
      `SELECT seq FROM records ${index} WHERE ${given.map(({ sql }) => sql).join(' AND ')}
        AND seq > ? AND seq < ? ORDER BY seq`,
    );
    const values = given.map(({ value }) => value);
    for await (const places of steps({ before: upto })) {
      const rows = look.all(...values, ...places) as { seq: number }[];
      yield rows.map(({ seq }) => seq);
    }
  };
};

/** Keeps a new erasure. It has to be called inside a transaction. */
export const createErasureWriter = (
  { prepare }: Writer,
  profiles: ProfileWriter,
  now: string,
): ErasureParts['begin'] => {
  // Kept by AUTOINCREMENT, and missing before the first row: https://www.sqlite.org/autoinc.html
  const nextPlace = prepare(
    `UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'records' RETURNING seq`,
  );
  const firstPlace = prepare(
    `INSERT INTO sqlite_sequence (name, seq) VALUES ('records', 1) RETURNING seq`,
  );
  const put = prepare(`
    INSERT INTO erasures (place, at, project, user_id, channel, event, received_from, received_to,
      upto, is_done)
    VALUES (?, ${now}, ?, ?, ?, ?, ?, ?, ?, 0)`);

  return async (erased, given) => {
    const { project, user_id, channel, event, from, to } = erased;
    if (user_id !== undefined) await profiles.remove({ project, user_id });
    const [row = (await firstPlace<{ seq: number }>())[0]!] = await nextPlace<{ seq: number }>();
    const place = row.seq;
    const upto = Math.min(given ?? place, place);
    const values = [project, user_id, channel, event, from, to].map((value) => value ?? null);
    await put(place, ...values, upto);
    return { ...erased, place, upto };
  };
};
