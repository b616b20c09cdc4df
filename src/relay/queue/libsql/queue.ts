import { nanoid } from 'nanoid';
import { callback, text } from '../../../interface/kinds.js';
import { checkOptions, count } from '../../check-options.js';
import { laneOf } from '../lane.js';
import type { Queue, QueuedRecord, QueueSize, Taken } from '../ports.js';
import { MAX_WAITING, QueueFullError } from '../queue-full.js';
import { recordKeyOf } from '../record-key.js';
import { createGroupCommit } from './group-commit.js';
import { openDatabase } from './open.js';

export interface LibsqlQueueOptions {
  /** The database file; it is created with its folder. One queue a file. */
  path: string;
  /** Records that may wait; beyond them the relay answers 503. @default 1000000 */
  maxWaiting?: number | undefined;
  /** In place of `Date.now`. Processes that share the file must agree on the time. */
  now?: (() => number) | undefined;
}

/** A record that could not be delivered. */
export interface DeadRecord {
  record: QueuedRecord;
  reason: string;
  /** When it was given up, milliseconds since the epoch. */
  diedAt: number;
}

export interface LibsqlQueue extends Required<Omit<Queue, 'leave'>> {
  /** The oldest dead letters. */
  dead(limit: number): Promise<DeadRecord[]>;
  /** Finishes what is asked for and closes the file. */
  close(): void;
}

/**
 * `waiting` has one row, which the triggers keep: to count the records would take longer the more there are.
 *
 * A lane that stands in `lanes` has a record out (`token` says with whom) or waits for its time; in either
 * case none of it is taken before `until`.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS records (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    lane TEXT NOT NULL,
    record TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    token TEXT,
    due INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX IF NOT EXISTS records_of_lane ON records (lane, seq);
  CREATE TABLE IF NOT EXISTS waiting (count INTEGER NOT NULL);
  INSERT INTO waiting
    SELECT (SELECT count(*) FROM records) WHERE NOT EXISTS (SELECT 1 FROM waiting);
  CREATE TRIGGER IF NOT EXISTS records_put AFTER INSERT ON records
    BEGIN UPDATE waiting SET count = count + 1; END;
  CREATE TRIGGER IF NOT EXISTS records_gone AFTER DELETE ON records
    BEGIN UPDATE waiting SET count = count - 1; END;
  CREATE TABLE IF NOT EXISTS lanes (
    lane TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    token TEXT
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS dead (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    record TEXT NOT NULL,
    reason TEXT NOT NULL,
    died_at INTEGER NOT NULL
  );
`;

interface Row {
  seq: number;
  lane: string;
  record: string;
  attempts: number;
}

/** A durable queue in one file of this machine; several of its processes may use it. */
export const createLibsqlQueue = (options: LibsqlQueueOptions): LibsqlQueue => {
  checkOptions('createLibsqlQueue', options, {
    kinds: { path: text, maxWaiting: count, now: callback },
    required: ['path'],
  });
  const { path, maxWaiting = MAX_WAITING, now = () => Date.now() } = options;
  const database = openDatabase(path, SCHEMA);
  const group = createGroupCommit(database);
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);

  const insert = prepare(
    'INSERT INTO records (id, lane, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const selectDue = prepare(`
    SELECT seq, lane, record, attempts FROM records
    WHERE NOT EXISTS (SELECT 1 FROM lanes WHERE lanes.lane = records.lane AND lanes.until > ?)
    ORDER BY seq LIMIT ?`);
  const hold = prepare(
    'UPDATE records SET token = ?, attempts = attempts + 1, due = 0 WHERE seq = ?',
  );
  const holdLane = prepare(`
    INSERT INTO lanes (lane, until, token) VALUES (?, ?, ?)
    ON CONFLICT (lane) DO UPDATE SET until = excluded.until, token = excluded.token`);
  const remove = prepare('DELETE FROM records WHERE seq = ?');
  const giveBack = prepare('UPDATE records SET token = NULL, due = ? WHERE seq = ? AND token = ?');
  const bury = prepare('INSERT INTO dead (record, reason, died_at) VALUES (?, ?, ?)');
  // A lane is let go when none of the records that were taken with it is out any more.
  const waitInLane = prepare(`
    UPDATE lanes SET token = NULL,
      until = (SELECT coalesce(max(due), 0) FROM records WHERE records.lane = lanes.lane)
    WHERE lane = ?1 AND token = ?2
      AND NOT EXISTS (SELECT 1 FROM records WHERE records.lane = ?1 AND records.token = ?2)`);
  const freeLane = prepare('DELETE FROM lanes WHERE lane = ? AND token IS NULL AND until <= ?');
  const countAll = prepare(
    'SELECT (SELECT count FROM waiting) AS waiting, (SELECT count(*) FROM dead) AS dead',
  );
  const countWaiting = prepare('SELECT count FROM waiting');
  const oldest = prepare('SELECT record FROM records ORDER BY seq LIMIT 1');
  const selectDead = prepare('SELECT record, reason, died_at FROM dead ORDER BY seq LIMIT ?');

  const letGo = (taken: readonly Taken[]): void => {
    const lanes = new Map(taken.map((one) => [laneOf(one.record), one] as const));
    for (const [lane, { receipt }] of lanes) {
      waitInLane.run(lane, readReceipt(receipt).token);
      freeLane.run(lane, now());
    }
  };

  const putNow = (records: readonly QueuedRecord[]): boolean => {
    const [waiting] = countWaiting.all() as { count: number }[];
    if (waiting!.count >= maxWaiting) return false;
    for (const record of records) {
      insert.run(recordKeyOf(record), laneOf(record), JSON.stringify(record));
    }
    return true;
  };

  const takeNow = (limit: number, visibilityMs: number): Taken[] => {
    const token = nanoid();
    const rows = selectDue.all(now(), limit) as Row[];
    return rows.map(({ seq, lane, record, attempts }) => {
      hold.run(token, seq);
      holdLane.run(lane, now() + visibilityMs, token);
      return {
        receipt: `${seq} ${token}`,
        record: JSON.parse(record) as QueuedRecord,
        attempts: attempts + 1,
      };
    });
  };

  return {
    put: async (records) => {
      const isPut = await group.run(() => putNow(records));
      // Thrown here: inside, it would undo what shares the transaction.
      if (!isPut) throw new QueueFullError(maxWaiting);
    },
    take: (limit, visibilityMs) => group.run(() => takeNow(limit, visibilityMs)),
    done: (taken) =>
      group.run(() => {
        for (const { receipt } of taken) remove.run(readReceipt(receipt).seq);
        letGo(taken);
      }),
    retry: (taken, delayMs) =>
      group.run(() => {
        for (const { receipt } of taken) {
          const { seq, token } = readReceipt(receipt);
          giveBack.run(now() + delayMs, seq, token);
        }
        letGo(taken);
      }),
    bury: (taken, reason) =>
      group.run(() => {
        const { changes } = remove.run(readReceipt(taken.receipt).seq);
        if (changes) bury.run(JSON.stringify(taken.record), reason, now());
        letGo([taken]);
      }),
    size: () =>
      group.run((): QueueSize => {
        const [counts] = countAll.all() as { waiting: number; dead: number }[];
        const [first] = oldest.all() as { record: string }[];
        return {
          ...counts!,
          ...(first && { oldest: (JSON.parse(first.record) as QueuedRecord).at }),
        };
      }),
    dead: (limit) =>
      group.run(() =>
        (selectDead.all(limit) as { record: string; reason: string; died_at: number }[]).map(
          ({ record, reason, died_at: diedAt }) => ({
            record: JSON.parse(record) as QueuedRecord,
            reason,
            diedAt,
          }),
        ),
      ),
    close: () => {
      group.flush();
      database.close();
    },
  };
};

const readReceipt = (receipt: string): { seq: number; token: string } => {
  const [seq, token] = receipt.split(' ');
  return { seq: Number(seq), token: token! };
};
