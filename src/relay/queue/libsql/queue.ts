import { statSync } from 'node:fs';
import { nanoid } from 'nanoid';
import { callback, text } from '../../../interface/kinds.js';
import { checkOptions, count } from '../../check-options.js';
import { monotonicNow } from '../../time.js';
import {
  boundsOf,
  LONGEST_WAIT_MS,
  PATIENCE,
  QueueFullError,
  type DeadLetter,
  type DeadLetters,
  type Queue,
  type QueueBounds,
  type QueuedRecord,
  type QueueSize,
  type Taken,
} from '../ports.js';
import { lineOf, recordKeyOf } from '../record.js';
import { createGroupCommit, openDatabase } from './file.js';
import { createInsert, prepareQueue } from './schema.js';

export interface LibsqlQueueOptions extends QueueBounds {
  /** The database file; it is created with its folder. One queue a file. */
  path: string;
  /** In place of the clock. Processes that share the file must agree on the time. */
  now?: (() => number) | undefined;
}

export interface LibsqlQueue extends Required<Omit<Queue, 'check'>> {
  deadLetters: DeadLetters;
  /** Finishes pending writes and closes the file. */
  close(): void;
}

interface Row {
  seq: number;
  record: string;
  tries: number;
  failed_at: number;
  token: string | null;
}

type Only = 'fresh' | 'failed' | undefined;

interface DeadRow {
  seq: number;
  record: string;
  reason: string;
  died_at: number;
}

/** A durable queue in one file of this machine; several of its processes may use it. */
export const createLibsqlQueue = (options: LibsqlQueueOptions): LibsqlQueue => {
  checkOptions('createLibsqlQueue', options, {
    kinds: {
      ...{ path: text, maxWaiting: count, maxWaitingOfClient: count },
      ...{ maxDead: count, maxDeadOfClient: count, now: callback },
    },
    required: ['path'],
  });
  const { path, now = monotonicNow } = options;
  const bounds = boundsOf(options);
  const database = openDatabase(path, prepareQueue);
  const fileNow = (): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
  const file = fileNow();
  const group = createGroupCommit(database, path);
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);

  const ROW = 'SELECT seq, record, tries, failed_at, token FROM records';
  const insert = createInsert(database);
  const fresh = prepare(`${ROW} WHERE due = 0 ORDER BY seq LIMIT ?`);
  const failed = prepare(`${ROW} WHERE due > 0 AND due <= ? ORDER BY due, seq LIMIT ?`);
  const beyond = prepare(`${ROW} WHERE due > ? ORDER BY due, seq LIMIT ?`);
  const held = prepare(`${ROW} WHERE seq = ? AND token = ?`);
  const hold = prepare('UPDATE records SET token = ?, due = ?, tries = ? WHERE seq = ?');
  const free = prepare(
    'UPDATE records SET token = NULL, due = ?, tries = ?, failed_at = ? WHERE seq = ?',
  );
  const remove = prepare('DELETE FROM records WHERE seq = ?');
  /** What stood behind an identify that is gone: the events, and the next identify. */
  const letNextGo = prepare(`
    UPDATE records SET due = 0 WHERE line = ?1 AND due IS NULL AND seq <= coalesce(
      (SELECT min(seq) FROM records WHERE line = ?1 AND line <> '' AND is_identify = 1), 9e15)`);
  const letEventsGo = prepare(
    'UPDATE records SET due = 0 WHERE line = ? AND due IS NULL AND is_identify = 0',
  );
  const retryNow = prepare('UPDATE records SET due = ?1 WHERE due > ?1 AND token IS NULL');
  const size = prepare('SELECT kib, count FROM sizes WHERE name = ?');
  const oldest = prepare('SELECT at FROM records ORDER BY seq LIMIT 1');
  const addDead = prepare('INSERT INTO dead (client, record, reason, died_at) VALUES (?, ?, ?, ?)');
  const DEAD = 'SELECT seq, record, reason, died_at FROM dead';
  const listDead = prepare(`${DEAD} WHERE seq > ? ORDER BY seq LIMIT ?`);
  const findDead = prepare(`${DEAD} WHERE seq = ?`);
  const removeDead = prepare('DELETE FROM dead WHERE seq = ?');
  const dropDead = prepare('DELETE FROM dead WHERE seq = (SELECT min(seq) FROM dead)');
  const dropDeadOfClient = prepare(
    'DELETE FROM dead WHERE seq = (SELECT min(seq) FROM dead WHERE client = ?)',
  );

  const sizeOf = (name: string): { kib: number; count: number } =>
    (size.all(name) as { kib: number; count: number }[])[0] ?? { kib: 0, count: 0 };

  const whyFull = (client = ''): 'all' | 'client' | undefined => {
    if (sizeOf('waiting').kib >= bounds.maxWaiting) return 'all';
    const isClients = client && sizeOf(`waiting ${client}`).kib >= bounds.maxWaitingOfClient;
    return isClients ? 'client' : undefined;
  };
  const putNow = (records: readonly QueuedRecord[]): 'all' | 'client' | undefined => {
    const full = whyFull(records[0]?.client);
    if (!full) for (const record of records) insert(recordKeyOf(record), record);
    return full;
  };

  const dueNow = (limit: number, visibilityMs: number, only: Only): Row[] => {
    const found = only === 'failed' ? [] : (fresh.all(limit) as Row[]);
    if (found.length || only === 'fresh') return found;
    const again = failed.all(now(), limit) as Row[];
    // Nobody waits for longer: the clock was set back.
    const longest = now() + Math.max(visibilityMs, LONGEST_WAIT_MS);
    return again.length ? again : (beyond.all(longest, limit) as Row[]);
  };
  const takeNow = (limit: number, visibilityMs: number, only: Only): Taken[] => {
    const token = nanoid();
    const time = now();
    return dueNow(limit, visibilityMs, only).map((row): Taken => {
      const { seq, record, failed_at: failedAt } = row;
      const tries = row.tries + (row.token ? 1 : 0); // the time of who had it is over
      hold.run(token, time + visibilityMs, tries, seq);
      return {
        receipt: `${seq} ${token}`,
        record: JSON.parse(record) as QueuedRecord,
        attempts: tries + 1,
        failingMs: failedAt ? Math.max(0, time - failedAt) : 0,
      };
    });
  };

  /** Answers whether it was there. */
  const removeNow = ({ receipt, record }: Taken): boolean => {
    const isGone = remove.run(readReceipt(receipt).seq).changes > 0;
    const line = record.type === 'identify' ? lineOf(record) : '';
    if (isGone && line) letNextGo.run(line);
    return isGone;
  };

  const giveBackNow = ({ receipt, record }: Taken, delayMs: number, isTried: boolean): void => {
    const { seq, token } = readReceipt(receipt);
    const [row] = held.all(seq, token) as Row[];
    if (!row) return;
    const time = now();
    const tries = row.tries + (isTried ? 1 : 0);
    const due = delayMs > 0 ? time + delayMs : tries > 0 ? time : 0;
    free.run(due, tries, row.failed_at || (isTried ? time : 0), seq);
    const line = lineOf(record);
    if (isTried && tries === PATIENCE && record.type === 'identify' && line) letEventsGo.run(line);
  };

  const buryNow = (taken: Taken, reason: string) => {
    const gone = { maxDead: 0, maxDeadOfClient: 0 };
    if (!removeNow(taken)) return gone;
    const { client = '' } = taken.record;
    addDead.run(client, JSON.stringify(taken.record), reason, now());
    const isOver = (name: string, most: number) => sizeOf(name).kib > most;
    while (client && isOver(`dead ${client}`, bounds.maxDeadOfClient))
      gone.maxDeadOfClient += dropDeadOfClient.run(client).changes;
    while (isOver('dead', bounds.maxDead)) gone.maxDead += dropDead.run().changes;
    return gone;
  };

  const resendNow = (ids: readonly string[]): number | 'full' => {
    const letters = ids.flatMap((id) => (findDead.all(id) as DeadRow[]).map(readDead));
    if (whyFull()) return 'full';
    for (const { id, record } of letters) {
      insert(recordKeyOf(record), { ...record, at: now() });
      removeDead.run(id);
    }
    return letters.length;
  };

  return {
    put: async (records) => {
      // SQLite goes on writing to a file that has no name any more, and nobody finds it again.
      if (fileNow() !== file) throw new Error(`${path} was deleted or replaced`);
      const full = await group.run(() => putNow(records));
      // Thrown outside the transaction, which other writes share and which it would undo.
      if (full) throw new QueueFullError(bounds, full === 'client');
    },
    take: (limit, visibilityMs, { only } = {}) =>
      group.run(() => takeNow(limit, visibilityMs, only)),
    done: (taken) => group.run(() => void taken.forEach(removeNow)),
    giveBack: (back) =>
      group.run(() =>
        back.forEach(({ taken, delayMs, isTried }) => giveBackNow(taken, delayMs, isTried)),
      ),
    bury: (taken, reason) => group.run(() => buryNow(taken, reason)),
    tryNow: () => group.run(() => void retryNow.run(now())),
    size: () =>
      group.run((): QueueSize => {
        const [first] = oldest.all() as { at: number }[];
        return {
          waiting: sizeOf('waiting').count,
          dead: sizeOf('dead').count,
          ...(first && { oldest: first.at }),
        };
      }),
    deadLetters: {
      list: ({ limit = 100, after = '0' } = {}) =>
        group.run(() => (listDead.all(after, limit) as DeadRow[]).map(readDead)),
      resend: async (ids) => {
        const resent = await group.run(() => resendNow(ids));
        if (resent === 'full') throw new QueueFullError(bounds);
        return resent;
      },
      purge: (ids) =>
        group.run(() => ids.reduce((purged, id) => purged + removeDead.run(id).changes, 0)),
    },
    close: () => {
      group.flush();
      database.close();
    },
  };
};

const readDead = ({ seq, record, reason, died_at: diedAt }: DeadRow): DeadLetter => ({
  id: String(seq),
  record: JSON.parse(record) as QueuedRecord,
  reason,
  diedAt,
});

const readReceipt = (receipt: string): { seq: number; token: string } => {
  const [seq, token] = receipt.split(' ');
  return { seq: Number(seq), token: token! };
};
