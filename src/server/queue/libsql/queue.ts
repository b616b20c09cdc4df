import { nanoid } from 'nanoid';
import { callback, text } from '../../../interface/kinds.js';
import { checkOptions, count, notNegative } from '../../check-options.js';
import { monotonicNow } from '../../time.js';
import {
  boundsOf,
  idBoundsOf,
  LONGEST_WAIT_MS,
  PATIENCE,
  QueueFullError,
  type DeadLetter,
  type DeadLetters,
  type GivenBack,
  type IdBounds,
  type Placed,
  type Put,
  type Queue,
  type QueueBounds,
  type QueuedRecord,
  type QueueSize,
  type Taken,
} from '../ports.js';
import { keyOf, lineOf } from '../../incoming.js';
import { readQueued, writeQueued } from '../record.js';
import { openFile } from '../../store/libsql/file.js';
import { createIds } from './ids.js';
import { QUEUE_TABLES } from './schema.js';

export interface LibsqlQueueOptions extends QueueBounds, IdBounds {
  /** Of `createLibsqlQueue`: the file, which is made with its folder. One queue a file. */
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
}

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
      ...{ idAge: notNegative, maxIds: count, maxIdsOfClient: count },
    },
    required: ['path'],
  });
  const { path, now = monotonicNow } = options;
  const bounds = boundsOf(options);
  const file = openFile(path, QUEUE_TABLES);
  const { prepare, run, runIfThere, close } = file;
  const ids = createIds(file, idBoundsOf(options));

  // An event has to wait behind an identify that has not failed often, and an identify behind any other. Only the first
  // identify of the line is looked at, since a line may be long.
  const insert = prepare(`
    INSERT INTO records (id, client, line, is_identify, record, at, due)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN (
      SELECT ?4 = 1 OR tries < ${PATIENCE} FROM records
        WHERE line = ?3 AND is_identify = 1 AND line <> '' ORDER BY seq LIMIT 1
    ) THEN NULL ELSE 0 END
    WHERE true ON CONFLICT DO NOTHING`);
  /** A token that is still set: a consumer took the record and never answered. That counts as a try. */
  const takeWhere = (isDue: string) =>
    prepare(`
      UPDATE records SET tries = tries + (token IS NOT NULL), token = ?1, due = ?2
      WHERE seq IN (SELECT seq FROM records WHERE ${isDue} ORDER BY due, seq LIMIT ?3)
      RETURNING seq, record, tries, failed_at`);
  const takeFresh = takeWhere('due = 0');
  const takeFailed = takeWhere('due > 0 AND due <= ?4');
  const takeBeyond = takeWhere('due > ?4');
  const free = prepare(`
    UPDATE records SET token = NULL, tries = tries + ?3,
      failed_at = CASE WHEN ?3 AND failed_at = 0 THEN ?4 ELSE failed_at END,
      due = CASE WHEN ?5 > 0 THEN ?4 + ?5 WHEN tries + ?3 > 0 THEN ?4 ELSE 0 END
    WHERE id = ?1 AND token = ?2 RETURNING tries`);
  const remove = prepare('DELETE FROM records WHERE id = ?');
  /** Makes the records behind a removed identify due: the events, and the next identify. */
  const letNextGo = prepare(`
    UPDATE records SET due = 0 WHERE line = ?1 AND due IS NULL AND seq <= coalesce(
      (SELECT min(seq) FROM records WHERE line = ?1 AND line <> '' AND is_identify = 1), 9e15)`);
  const letEventsGo = prepare(
    'UPDATE records SET due = 0 WHERE line = ? AND due IS NULL AND is_identify = 0',
  );
  const insertSecret = prepare('INSERT INTO secret VALUES (1, ?) ON CONFLICT DO NOTHING');
  const findSecret = prepare('SELECT secret FROM secret');
  const isWaiting = prepare('SELECT 1 FROM records WHERE id = ?');
  const retryNow = prepare('UPDATE records SET due = ?1 WHERE due > ?1 AND token IS NULL');
  const size = prepare('SELECT kib, count FROM sizes WHERE name = ?');
  const oldest = prepare('SELECT at FROM records ORDER BY seq LIMIT 1');
  const addDead = prepare('INSERT INTO dead (client, record, reason, died_at) VALUES (?, ?, ?, ?)');
  const listDead = prepare('SELECT * FROM dead WHERE seq > ? ORDER BY seq LIMIT ?');
  const findDead = prepare('SELECT * FROM dead WHERE seq = ?');
  const removeDead = prepare('DELETE FROM dead WHERE seq = ?');
  const dropDead = prepare('DELETE FROM dead WHERE seq = (SELECT min(seq) FROM dead)');
  const dropDeadOfClient = prepare(
    'DELETE FROM dead WHERE seq = (SELECT min(seq) FROM dead WHERE client = ?)',
  );

  const sizeOf = (name: string): { kib: number; count: number } =>
    (size.all(name) as { kib: number; count: number }[])[0] ?? { kib: 0, count: 0 };

  /** Returns which bound is reached, if any. */
  const whyFull = (client = ''): 'all' | 'client' | undefined => {
    if (sizeOf('waiting').kib >= bounds.maxWaiting) return 'all';
    const isClients = client && sizeOf(`waiting ${client}`).kib >= bounds.maxWaitingOfClient;
    return isClients ? 'client' : undefined;
  };
  /** Returns false if the record is there already. */
  const putNow = (record: QueuedRecord, key = keyOf(record)): boolean => {
    const { sender = '', type, at } = record;
    const place = [key, sender, lineOf(record), type === 'identify' ? 1 : 0];
    return insert.run(...place, writeQueued(record), at).changes > 0;
  };
  const putAll = (records: readonly QueuedRecord[]): Put => {
    const sender = records[0]?.sender;
    const full = whyFull(sender);
    const time = now();
    const fresh: string[] = [];
    const placed = records.map((record): Placed => {
      const key = keyOf(record);
      if (ids.isKnown(key, time) || isWaiting.all(key).length) return 'known';
      if (full) return full === 'all' ? 'full' : 'full of sender';
      putNow(record, key);
      fresh.push(key);
      return 'queued';
    });
    return { placed, dropped: ids.keep(fresh, sender, time) };
  };

  const takeNow = (limit: number, visibilityMs: number, only?: 'fresh' | 'failed'): Taken[] => {
    const token = nanoid();
    const time = now();
    const hold = [token, time + visibilityMs, limit] as const;
    const failed = () => {
      const rows = takeFailed.all(...hold, time);
      // Records that seem to wait for longer: the clock was set back.
      const longest = time + Math.max(visibilityMs, LONGEST_WAIT_MS);
      return rows.length ? rows : takeBeyond.all(...hold, longest);
    };
    const fresh = only === 'failed' ? [] : takeFresh.all(...hold);
    const rows = (fresh.length || only === 'fresh' ? fresh : failed()) as Row[];
    return rows
      .sort((a, b) => a.seq - b.seq)
      .map(({ record, tries, failed_at: failedAt }) => ({
        receipt: token,
        record: readQueued(record),
        attempts: tries + 1,
        failingMs: failedAt ? Math.max(0, time - failedAt) : 0,
      }));
  };

  /** Returns whether the record was there. */
  const removeNow = ({ record }: Taken): boolean => {
    const isGone = remove.run(keyOf(record)).changes > 0;
    if (isGone && record.type === 'identify') letNextGo.run(lineOf(record));
    return isGone;
  };

  const giveBackNow = ({ taken: { record, receipt }, delayMs, isTried }: GivenBack): void => {
    const place = [keyOf(record), receipt];
    const [row] = free.all(...place, isTried ? 1 : 0, now(), delayMs) as { tries: number }[];
    // `>=`, since a try without an answer counts, too: this may be a later one than the third.
    const isHopeless = isTried && row && row.tries >= PATIENCE && record.type === 'identify';
    if (isHopeless) letEventsGo.run(lineOf(record));
  };

  const buryNow = (taken: Taken, reason: string) => {
    const gone = { maxDead: 0, maxDeadOfClient: 0 };
    if (!removeNow(taken)) return gone;
    const { sender: client = '' } = taken.record;
    addDead.run(client, writeQueued(taken.record), reason, now());
    while (client && sizeOf(`dead ${client}`).kib > bounds.maxDeadOfClient)
      gone.maxDeadOfClient += dropDeadOfClient.run(client).changes;
    while (sizeOf('dead').kib > bounds.maxDead) gone.maxDead += dropDead.run().changes;
    return gone;
  };

  const resendNow = (ids: readonly string[]): number => {
    const letters = ids.flatMap((id) => (findDead.all(id) as DeadRow[]).map(readDead));
    for (const { id, record } of letters) {
      putNow({ ...record, at: now() });
      removeDead.run(id);
    }
    return letters.length;
  };
  const secretNow = (): string => {
    insertSecret.run(nanoid());
    return (findSecret.all() as { secret: string }[])[0]!.secret;
  };

  return {
    put: (records) => runIfThere(() => putAll(records)),
    secret: () => run(secretNow),
    take: (limit, visibilityMs, { only } = {}) => run(() => takeNow(limit, visibilityMs, only)),
    done: (taken) => run(() => void taken.forEach(removeNow)),
    giveBack: (back) => run(() => back.forEach(giveBackNow)),
    bury: (taken, reason) => run(() => buryNow(taken, reason)),
    tryNow: () => run(() => void retryNow.run(now())),
    size: () =>
      run((): QueueSize => {
        const [first] = oldest.all() as { at: number }[];
        return {
          waiting: sizeOf('waiting').count,
          dead: sizeOf('dead').count,
          ...(first && { oldest: first.at }),
        };
      }),
    deadLetters: {
      list: ({ limit = 100, after = '0' } = {}) =>
        run(() => (listDead.all(after, limit) as DeadRow[]).map(readDead)),
      resend: async (ids) => {
        // The error is thrown outside of the transaction, since it would undo the other writes in it.
        const resent = await run(() => (whyFull() ? undefined : resendNow(ids)));
        if (resent === undefined) throw new QueueFullError(bounds);
        return resent;
      },
      purge: (ids) => run(() => ids.reduce((purged, id) => purged + removeDead.run(id).changes, 0)),
    },
    close,
  };
};

const readDead = ({ seq, record, reason, died_at: diedAt }: DeadRow): DeadLetter => ({
  id: String(seq),
  record: readQueued(record),
  reason,
  diedAt,
});
