import { nanoid } from 'nanoid';
import { callback, positive, text } from '../../../interface/kinds.js';
import type { BatchResult } from '../../../interface/wire.js';
import { checkOptions, count } from '../../check-options.js';
import { monotonicNow } from '../../time.js';
import { isFinal } from '../record.js';
import { idBoundsOf, REFUSED_MS, type IdBounds, type Seen, type Sighting } from '../ports.js';
import { createGroupCommit, openDatabase, withVersion } from './file.js';

export interface LibsqlSeenOptions extends IdBounds {
  /** The database file; it is created with its folder. */
  path: string;
  /** Milliseconds an id is kept. As long as clients keep a record, or a late repeat is new. @default 604800000 (7 days) */
  maxAge?: number | undefined;
  /** In place of the clock. Processes that share the file must agree on the time. */
  now?: (() => number) | undefined;
}

export interface LibsqlSeen extends Seen {
  /** Finishes pending writes and closes the file. */
  close(): void;
}

/** Of the tables, as `user_version` of the file. Files of version 1 have none. */
const VERSION = 2;

/** `ids` says how many ids each client has, and '' how many there are in all. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS seen (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    holder TEXT NOT NULL,
    result TEXT
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS seen_until ON seen (until);
  ALTER TABLE seen ADD COLUMN client TEXT NOT NULL DEFAULT '-';
  CREATE INDEX seen_of_client ON seen (client, until) WHERE result IS NOT NULL;
  CREATE TABLE ids (client TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX ids_by_count ON ids (count);
  INSERT INTO ids SELECT '', count(*) FROM seen WHERE result IS NOT NULL;
  INSERT INTO ids SELECT '-', count FROM ids WHERE client = '' AND count > 0;
`;

const prepareSeen = withVersion(VERSION, (database) => void database.exec(SCHEMA));

/** Expired ids deleted with each transaction that adds some: the table shrinks faster than it grows. */
const SWEEP = 200;

interface Row {
  id: string;
  client: string;
  result: string | null;
  until: number;
}

/** The ids of records that the relay has sent, in one file of this machine. Several processes may use it. */
export const createLibsqlSeen = (options: LibsqlSeenOptions): LibsqlSeen => {
  checkOptions('createLibsqlSeen', options, {
    kinds: { path: text, maxAge: positive, maxIds: count, maxIdsOfClient: count, now: callback },
    required: ['path'],
  });
  const { path, maxAge = 7 * 86_400_000, now = monotonicNow } = options;
  const { maxIds, maxIdsOfClient } = idBoundsOf(options);
  const database = openDatabase(path, prepareSeen);
  const group = createGroupCommit(database, path);
  const me = nanoid();
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);

  const find = prepare('SELECT id, client, result, until FROM seen WHERE id = ?');
  const write = prepare(`
    INSERT INTO seen (id, until, holder, result, client) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id)
    DO UPDATE SET until = excluded.until, holder = excluded.holder, result = excluded.result,
      client = excluded.client`);
  const giveUp = prepare('DELETE FROM seen WHERE id = ? AND holder = ? AND result IS NULL');
  const remove = prepare('DELETE FROM seen WHERE id = ?');
  const expired = prepare(
    `SELECT id, client, result, until FROM seen WHERE until <= ? ORDER BY until LIMIT ${SWEEP}`,
  );
  const oldestOf = prepare(`
    SELECT id, client, result, until FROM seen WHERE client = ? AND result IS NOT NULL
    ORDER BY until LIMIT 1`);
  const resize = prepare(`
    INSERT INTO ids (client, count) VALUES (?1, ?2)
    ON CONFLICT (client) DO UPDATE SET count = count + ?2`);
  const dropEmpty = prepare("DELETE FROM ids WHERE client = ? AND count <= 0 AND client <> ''");
  const countOf = prepare('SELECT count FROM ids WHERE client = ?');
  const largest = prepare("SELECT client FROM ids WHERE client <> '' ORDER BY count DESC LIMIT 1");

  const idsOf = (client: string): number =>
    (countOf.all(client) as { count: number }[])[0]?.count ?? 0;
  const change = (client: string, by: number): void => {
    if (!by) return;
    for (const whose of [client, '']) resize.run(whose, by);
    if (by < 0) dropEmpty.run(client);
  };
  const removeRow = ({ id, client, result }: Row): void => {
    remove.run(id);
    if (result) change(client, -1);
  };
  const removeOldestOf = (client: string): boolean => {
    const [row] = oldestOf.all(client) as Row[];
    if (row) removeRow(row);
    return !!row;
  };

  const sight = (id: string, claimMs: number, time: number): Sighting => {
    const [row] = find.all(id) as Row[];
    if (row && row.until > time) {
      const { result } = row;
      return result
        ? { state: 'done', result: JSON.parse(result) as BatchResult }
        : { state: 'begun' };
    }
    if (row) removeRow(row);
    write.run(id, time + claimMs, me, null, '-');
    return { state: 'new' };
  };

  /** Answers how many ids its client has more. */
  const keep = (result: BatchResult, client: string, time: number): number => {
    const { id } = result;
    const [row] = find.all(id) as Row[];
    if (row?.result && row.until > time && !isFinal(result)) return 0;
    const lifeMs = result.outcome === 'rejected' ? Math.min(maxAge, REFUSED_MS) : maxAge;
    write.run(id, time + lifeMs, me, JSON.stringify(result), row?.result ? row.client : client);
    return row?.result ? 0 : 1;
  };

  const finishNow = (results: readonly BatchResult[], client: string) => {
    const gone = { maxIds: 0, maxIdsOfClient: 0 };
    const whose = client || '-';
    const time = now();
    change(
      whose,
      results.reduce((sum, result) => sum + keep(result, whose, time), 0),
    );
    while (client && idsOf(whose) > maxIdsOfClient && removeOldestOf(whose)) gone.maxIdsOfClient++;
    const largestNow = () => (largest.all() as { client: string }[])[0]!.client;
    while (idsOf('') > maxIds && removeOldestOf(largestNow())) gone.maxIds++;
    return gone;
  };

  return {
    begin: (ids, claimMs) =>
      group.run(() => {
        const time = now();
        for (const row of expired.all(time) as Row[]) removeRow(row);
        return ids.map((id) => sight(id, claimMs, time));
      }),
    finish: (results, client = '') => group.run(() => finishNow(results, client)),
    forget: (ids) => group.run(() => ids.forEach((id) => giveUp.run(id, me))),
    close: () => {
      group.flush();
      database.close();
    },
  };
};
