import { nanoid } from 'nanoid';
import { callback, positive, text } from '../../../interface/kinds.js';
import type { BatchResult } from '../../../interface/wire.js';
import { checkOptions } from '../../check-options.js';
import { isFinal } from '../later.js';
import type { Seen, Sighting } from '../ports.js';
import { createGroupCommit } from './group-commit.js';
import { openDatabase } from './open.js';

export interface LibsqlSeenOptions {
  /** The database file; it is created with its folder. */
  path: string;
  /** Milliseconds an id is kept. As long as clients keep a record, or a late repeat is new. @default 604800000 (7 days) */
  maxAge?: number | undefined;
  /** In place of `Date.now`. Processes that share the file must agree on the time. */
  now?: (() => number) | undefined;
}

export interface LibsqlSeen extends Seen {
  /** Finishes pending writes and closes the file. */
  close(): void;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS seen (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    holder TEXT NOT NULL,
    result TEXT
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS seen_until ON seen (until);
`;
/** Expired ids deleted with each transaction that adds some: the table shrinks faster than it grows. */
const SWEEP = 200;

/** The ids of records that the relay has sent, in one file of this machine. Several processes may use it. */
export const createLibsqlSeen = (options: LibsqlSeenOptions): LibsqlSeen => {
  checkOptions('createLibsqlSeen', options, {
    kinds: { path: text, maxAge: positive, now: callback },
    required: ['path'],
  });
  const { path, maxAge = 7 * 86_400_000, now = () => Date.now() } = options;
  const database = openDatabase(path, SCHEMA);
  const group = createGroupCommit(database, path);
  const me = nanoid();
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);

  const select = prepare('SELECT result FROM seen WHERE id = ? AND until > ?');
  const write = prepare(`
    INSERT INTO seen (id, until, holder, result) VALUES (?, ?, ?, ?) ON CONFLICT (id)
    DO UPDATE SET until = excluded.until, holder = excluded.holder, result = excluded.result`);
  const writeUnlessKnown = prepare(`
    INSERT INTO seen (id, until, holder, result) VALUES (?, ?, ?, ?) ON CONFLICT (id)
    DO UPDATE SET until = excluded.until, holder = excluded.holder, result = excluded.result
    WHERE seen.result IS NULL OR seen.until <= ?`);
  const giveUp = prepare('DELETE FROM seen WHERE id = ? AND holder = ? AND result IS NULL');
  const sweep = prepare(
    `DELETE FROM seen WHERE id IN (SELECT id FROM seen WHERE until <= ? ORDER BY until LIMIT ${SWEEP})`,
  );

  const sight = (id: string, claimMs: number): Sighting => {
    const [known] = select.all(id, now()) as { result: string | null }[];
    if (known?.result) return { state: 'done', result: JSON.parse(known.result) as BatchResult };
    if (known) return { state: 'begun' };
    write.run(id, now() + claimMs, me, null);
    return { state: 'new' };
  };

  return {
    begin: (ids, claimMs) =>
      group.run(() => {
        sweep.run(now());
        return ids.map((id) => sight(id, claimMs));
      }),
    finish: (results) =>
      group.run(() => {
        for (const result of results) {
          const values = [result.id, now() + maxAge, me, JSON.stringify(result)];
          if (isFinal(result)) write.run(...values);
          else writeUnlessKnown.run(...values, now());
        }
      }),
    forget: (ids) => group.run(() => ids.forEach((id) => giveUp.run(id, me))),
    close: () => {
      group.flush();
      database.close();
    },
  };
};
