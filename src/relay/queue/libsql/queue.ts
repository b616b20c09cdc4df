import { statSync } from 'node:fs';
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
import { createStatements } from './statements.js';

export interface LibsqlQueueOptions {
  /** The database file; it is created with its folder. One queue a file. */
  path: string;
  /** Records that may wait, each counted once for every KiB of it; beyond them the relay answers 503. @default 1000000 */
  maxWaiting?: number | undefined;
  /** In place of `Date.now`. Processes that share the file must agree on the time. */
  now?: (() => number) | undefined;
}

export interface LibsqlQueue extends Required<Queue> {
  deadLetters: DeadLetters;
  /** Finishes pending writes and closes the file. */
  close(): void;
}

interface Row {
  seq: number;
  lane: string;
  record: string;
  attempts: number;
}

interface Lane {
  lane: string;
  head: number;
  until: number;
}

/** A durable queue in one file of this machine; several of its processes may use it. */
export const createLibsqlQueue = (options: LibsqlQueueOptions): LibsqlQueue => {
  checkOptions('createLibsqlQueue', options, {
    kinds: { path: text, maxWaiting: count, now: callback },
    required: ['path'],
  });
  const { path, maxWaiting = MAX_WAITING, now = () => Date.now() } = options;
  const database = openDatabase(path, SCHEMA);
  const fileNow = (): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
  const file = fileNow();
  const group = createGroupCommit(database, path);
  const statements = createStatements(database);

  const release = (taken: readonly Taken[]): void => {
    const lanes = new Map(taken.map((one) => [laneOf(one.record), one] as const));
    for (const [lane, { receipt }] of lanes)
      statements.releaseLane.run(lane, readReceipt(receipt).token);
  };

  const full = () => new QueueFullError(maxWaiting);
  const putNow = (records: readonly QueuedRecord[]): boolean => {
    const [weight] = statements.weigh.all() as { sum: number }[];
    if (weight!.sum >= maxWaiting) return false;
    for (const record of records) {
      statements.insert.run(recordKeyOf(record), laneOf(record), JSON.stringify(record));
    }
    return true;
  };

  /** The oldest records of lanes that are free; those of lanes that begin with a failed one come last. */
  const dueNow = (limit: number): Row[] => {
    const lanes = statements.selectLanes.all(now(), limit) as Lane[];
    // With `limit` lanes there are at least `limit` records up to the last head, so later ones are not
    // needed.
    const last =
      lanes.length < limit ? Number.MAX_SAFE_INTEGER : Math.max(...lanes.map(({ head }) => head));
    return lanes
      .flatMap(({ lane, until }) =>
        (statements.selectOfLane.all(lane, last, limit) as Row[]).map((row) => ({ row, until })),
      )
      .sort((a, b) => a.until - b.until || a.row.seq - b.row.seq)
      .slice(0, limit)
      .map(({ row }) => row);
  };

  const takeNow = (limit: number, visibilityMs: number): Taken[] => {
    const token = nanoid();
    return dueNow(limit).map(({ seq, lane, record, attempts }) => {
      statements.hold.run(token, seq);
      statements.holdLane.run(now() + visibilityMs, token, lane);
      return {
        receipt: `${seq} ${token}`,
        record: JSON.parse(record) as QueuedRecord,
        attempts: attempts + 1,
      };
    });
  };

  return {
    put: async (records) => {
      // SQLite goes on writing to a file that has no name any more, and nobody finds it again.
      if (fileNow() !== file) throw new Error(`${path} was deleted or replaced`);
      const isPut = await group.run(() => putNow(records));
      // Thrown outside the transaction, which other writes share and which it would undo.
      if (!isPut) throw full();
    },
    take: (limit, visibilityMs) => group.run(() => takeNow(limit, visibilityMs)),
    done: (taken) =>
      group.run(() => {
        for (const { receipt } of taken) statements.remove.run(readReceipt(receipt).seq);
        release(taken);
      }),
    retry: (taken, delayMs) =>
      group.run(() => {
        for (const { receipt, record } of taken) {
          const { seq, token } = readReceipt(receipt);
          statements.giveBack.run(delayMs ? 0 : 1, seq, token);
          if (delayMs) statements.delayLane.run(now() + delayMs, laneOf(record), token);
        }
        release(taken);
      }),
    bury: (taken, reason) =>
      group.run(() => {
        const { changes } = statements.remove.run(readReceipt(taken.receipt).seq);
        if (changes) statements.bury.run(JSON.stringify(taken.record), reason, now());
        release([taken]);
      }),
    size: () =>
      group.run((): QueueSize => {
        const [counts] = statements.countAll.all() as { waiting: number; dead: number }[];
        const [first] = statements.oldest.all() as { record: string }[];
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
