import { nanoid } from 'nanoid';
import { callback, text } from '../../../interface/kinds.js';
import { checkOptions, count } from '../../check-options.js';
import { laneOf } from '../lane.js';
import type { DeadLetters, Queue, QueuedRecord, QueueSize, Taken } from '../ports.js';
import { MAX_WAITING, QueueFullError } from '../queue-full.js';
import { recordKeyOf } from '../record-key.js';
import { createLibsqlDeadLetters } from './dead-letters.js';
import { createGroupCommit } from './group-commit.js';
import { openDatabase } from './open.js';
import { SCHEMA } from './schema.js';

export interface LibsqlQueueOptions {
  /** The database file; it is created with its folder. One queue a file. */
  path: string;
  /** Records that may wait; beyond them the relay answers 503. @default 1000000 */
  maxWaiting?: number | undefined;
  /** In place of `Date.now`. Processes that share the file must agree on the time. */
  now?: (() => number) | undefined;
}

export interface LibsqlQueue extends Required<Omit<Queue, 'leave'>> {
  deadLetters: DeadLetters;
  /** Finishes what is asked for and closes the file. */
  close(): void;
}

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
  const freeLanes = prepare('UPDATE lanes SET until = 0, token = NULL WHERE until BETWEEN 1 AND ?');
  const selectLanes = prepare('SELECT lane, head FROM lanes WHERE until = 0 ORDER BY head LIMIT ?');
  const selectOfLane = prepare(`
    SELECT seq, lane, record, attempts FROM records
    WHERE lane = ? AND seq <= ? ORDER BY seq LIMIT ?`);
  const hold = prepare('UPDATE records SET token = ?, attempts = attempts + 1 WHERE seq = ?');
  const holdLane = prepare('UPDATE lanes SET until = ?, due = 0, token = ? WHERE lane = ?');
  const remove = prepare('DELETE FROM records WHERE seq = ?');
  const giveBack = prepare('UPDATE records SET token = NULL WHERE seq = ? AND token = ?');
  const delayLane = prepare('UPDATE lanes SET due = max(due, ?) WHERE lane = ? AND token = ?');
  const bury = prepare('INSERT INTO dead (record, reason, died_at) VALUES (?, ?, ?)');
  // When none of the records that were taken with the token is out any more.
  const releaseLane = prepare(`
    UPDATE lanes SET until = due, token = NULL WHERE lane = ?1 AND token = ?2
      AND NOT EXISTS (SELECT 1 FROM records WHERE records.lane = ?1 AND records.token = ?2)`);
  const countAll = prepare(
    'SELECT (SELECT count FROM waiting) AS waiting, (SELECT count(*) FROM dead) AS dead',
  );
  const countWaiting = prepare('SELECT count FROM waiting');
  const oldest = prepare('SELECT record FROM records ORDER BY seq LIMIT 1');

  const release = (taken: readonly Taken[]): void => {
    const lanes = new Map(taken.map((one) => [laneOf(one.record), one] as const));
    for (const [lane, { receipt }] of lanes) releaseLane.run(lane, readReceipt(receipt).token);
  };

  const full = () => new QueueFullError(maxWaiting);
  const putNow = (records: readonly QueuedRecord[]): boolean => {
    const [waiting] = countWaiting.all() as { count: number }[];
    if (waiting!.count >= maxWaiting) return false;
    for (const record of records) {
      insert.run(recordKeyOf(record), laneOf(record), JSON.stringify(record));
    }
    return true;
  };

  /** The oldest records of lanes that are free. */
  const dueNow = (limit: number): Row[] => {
    freeLanes.run(now());
    const lanes = selectLanes.all(limit) as { lane: string; head: number }[];
    // So many lanes have a record up to the last head: what comes later is not among the oldest.
    const last = lanes.length < limit ? Number.MAX_SAFE_INTEGER : lanes.at(-1)!.head;
    return lanes
      .flatMap(({ lane }) => selectOfLane.all(lane, last, limit) as Row[])
      .sort((a, b) => a.seq - b.seq)
      .slice(0, limit);
  };

  const takeNow = (limit: number, visibilityMs: number): Taken[] => {
    const token = nanoid();
    return dueNow(limit).map(({ seq, lane, record, attempts }) => {
      hold.run(token, seq);
      holdLane.run(now() + visibilityMs, token, lane);
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
      if (!isPut) throw full();
    },
    take: (limit, visibilityMs) => group.run(() => takeNow(limit, visibilityMs)),
    done: (taken) =>
      group.run(() => {
        for (const { receipt } of taken) remove.run(readReceipt(receipt).seq);
        release(taken);
      }),
    retry: (taken, delayMs) =>
      group.run(() => {
        for (const { receipt, record } of taken) {
          const { seq, token } = readReceipt(receipt);
          giveBack.run(seq, token);
          delayLane.run(now() + delayMs, laneOf(record), token);
        }
        release(taken);
      }),
    bury: (taken, reason) =>
      group.run(() => {
        const { changes } = remove.run(readReceipt(taken.receipt).seq);
        if (changes) bury.run(JSON.stringify(taken.record), reason, now());
        release([taken]);
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
    deadLetters: createLibsqlDeadLetters({ database, group, putNow, full, now }),
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
