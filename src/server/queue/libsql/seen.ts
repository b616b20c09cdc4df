import { nanoid } from 'nanoid';
import { callback, positive, text } from '../../../interface/kinds.js';
import type { BatchResult } from '../../../interface/wire.js';
import { checkOptions, count } from '../../check-options.js';
import { monotonicNow } from '../../time.js';
import {
  idBoundsOf,
  REFUSED_MS,
  SEEN_MS,
  type IdBounds,
  type Seen,
  type Sighting,
} from '../ports.js';
import { createClaimCalls, type GivenUp } from '../claim-calls.js';
import { isFinal } from '../record.js';
import { openFile } from './file.js';

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

/**
 * A row of `seen` without a result is a claim, and `holder` has the mark of the process and the number of its call.
 * `ids` says how many results each client has, and '' how many all have.
 */
const TABLES = {
  version: 2,
  sql: `
  CREATE TABLE seen (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    holder TEXT NOT NULL,
    result TEXT,
    client TEXT NOT NULL DEFAULT '-'
  ) WITHOUT ROWID;
  CREATE INDEX seen_until ON seen (until);
  CREATE INDEX seen_of_client ON seen (client, until) WHERE result IS NOT NULL;
  CREATE TABLE ids (client TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX ids_by_count ON ids (count);`,
};

/** Expired ids deleted with each transaction that adds some: the table shrinks faster than it grows. */
const SWEEP = 200;

interface Row {
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
  const { path, maxAge = SEEN_MS, now = monotonicNow } = options;
  const { maxIds, maxIdsOfClient } = idBoundsOf(options);
  const { prepare, run, close } = openFile(path, TABLES);
  const call = createClaimCalls();
  const me = `${nanoid()} `;

  const find = prepare('SELECT client, result, until FROM seen WHERE id = ?');
  const write = prepare(`
    INSERT INTO seen (id, until, holder, result, client) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id)
    DO UPDATE SET until = excluded.until, holder = excluded.holder, result = excluded.result,
      client = excluded.client`);
  const giveUp = prepare(`
    DELETE FROM seen WHERE id = ?1 AND result IS NULL AND substr(holder, 1, length(?2)) = ?2
    AND CAST(substr(holder, length(?2) + 1) AS INTEGER) BETWEEN ?3 AND ?4`);
  const deleteWhere = (condition: string) =>
    prepare(`DELETE FROM seen WHERE ${condition} RETURNING client, result`);
  const deleteOne = deleteWhere('id = ?');
  const deleteExpired = deleteWhere(
    `id IN (SELECT id FROM seen WHERE until <= ? ORDER BY until LIMIT ${SWEEP})`,
  );
  const deleteOldestOf = deleteWhere(
    'id = (SELECT id FROM seen WHERE client = ? AND result IS NOT NULL ORDER BY until LIMIT 1)',
  );
  const resize = prepare(`
    INSERT INTO ids (client, count) VALUES (?1, ?2)
    ON CONFLICT (client) DO UPDATE SET count = count + ?2`);
  const dropEmpty = prepare("DELETE FROM ids WHERE client = ? AND count <= 0 AND client <> ''");
  const countOf = prepare('SELECT count FROM ids WHERE client = ?');
  const largest = prepare("SELECT client FROM ids WHERE client <> '' ORDER BY count DESC LIMIT 1");

  const change = (client: string, by: number): void => {
    for (const whose of [client, '']) resize.run(whose, by);
    dropEmpty.run(client);
  };
  /** Answers how many rows there were. */
  const forget = (statement: typeof deleteOne, which: string | number): number => {
    const rows = statement.all(which) as Pick<Row, 'client' | 'result'>[];
    for (const { client, result } of rows) if (result) change(client, -1);
    return rows.length;
  };
  const isOver = (client: string, most: number): boolean =>
    ((countOf.all(client) as { count: number }[])[0]?.count ?? 0) > most;

  const giveUpAll = (givenUp: readonly GivenUp[]): void =>
    givenUp.forEach(({ id, first, last }) => giveUp.run(id, me, first, last));

  const sight = (id: string, holder: string, until: number, time: number): Sighting => {
    const [row] = find.all(id) as Row[];
    if (row && row.until > time) {
      if (!row.result) return { state: 'begun' };
      return { state: 'done', result: JSON.parse(row.result) as BatchResult };
    }
    if (row) forget(deleteOne, id);
    write.run(id, until, holder, null, '-');
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
    const more = results.reduce((sum, result) => sum + keep(result, whose, time), 0);
    change(whose, more);
    while (client && isOver(whose, maxIdsOfClient))
      gone.maxIdsOfClient += forget(deleteOldestOf, whose);
    while (isOver('', maxIds))
      gone.maxIds += forget(deleteOldestOf, (largest.all() as { client: string }[])[0]!.client);
    return gone;
  };

  return {
    begin: (ids, claimMs) =>
      call({ claims: ids }, (number, givenUp) =>
        run(() => {
          const time = now();
          giveUpAll(givenUp);
          forget(deleteExpired, time);
          return ids.map((id) => sight(id, me + number, time + claimMs, time));
        }),
      ),
    finish: (results, client = '') => run(() => finishNow(results, client)),
    forget: (ids) => call({ forgets: ids }, (_, givenUp) => run(() => giveUpAll(givenUp))),
    close,
  };
};
