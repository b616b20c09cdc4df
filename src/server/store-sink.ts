import { messageOf } from '../util/errors.js';
import { inTime } from '../util/in-time.js';
import type { BatchResult } from '../interface/wire.js';
import { createReportOnce, type Tell } from './hooks.js';
import type { Outages } from './health/outages.js';
import type { Incoming } from './incoming.js';
import type { Setup } from './setup.js';
import type { Sink } from './sink.js';
import type { Store, Written } from './store/port.js';

/** A write that takes longer than this is answered 503, so that its senders send again. */
const PATIENCE_MS = 15_000;
/** How long senders are asked to wait while the database fails. */
const AWAY = { waitMs: 1_000 };
/** The shortest time between two checks whether the database works. */
const CHECK_EVERY_MS = 1_000;
/** How long a check may take, also one that takes room. A page hears of a database that stands still after 5 s at the most. */
const [CHECK_WITHIN_MS, ROOM_WITHIN_MS] = [2_500, 5_000];

/** While rows are stored, it is not asked whether there is room. */
const ROOM_AFTER_MS = 60_000;

/**
 * Whether rows are stored, as the last write of rows has shown: `ok` or `failing`. `untried`: none was written yet, or none
 * since the database works again.
 */
export interface Storing {
  state: 'ok' | 'failing' | 'untried';
  /** Since when it is failing or untried. */
  since?: string;
  /** When this process has last stored rows. */
  last?: string;
  /** Why rows are not stored. */
  problem?: string;
}

interface Parts {
  store: Pick<Store, 'write' | 'check' | 'room'>;
  setup: Pick<Setup, 'note'>;
  /** Called with the project of each record that the database refuses. */
  refused?: ((project: string) => void) | undefined;
  outages: Pick<Outages, 'began' | 'ended' | 'stored'>;
  tell: Tell;
  now: () => number;
}

const resultOf = ({ id }: Incoming, written: Written): BatchResult =>
  written.outcome === 'dead'
    ? { id, outcome: 'rejected', status: 422, message: written.message.slice(0, 200) }
    : { id, outcome: 'delivered', status: 200 };

/**
 * Writes records into a store. Only the last write decides whether the database counts as working. A check counts as a
 * write that may fail; after a failure it makes the database ready again if there is room for rows, but only rows that
 * were stored show that it stores. While the database does not work, one write at a time is tried, and all other senders
 * are asked at once to wait.
 */
export const createStoreSink = ({ store, setup, refused, outages, tell, now }: Parts) => {
  const trouble = createReportOnce(tell, now);
  let problem: string | undefined;
  let since: number | undefined = now();
  /** When rows were last stored. */
  let storedAt: number | undefined;
  /** When the last write ended. */
  let triedAt = -Infinity;
  let underWay = 0;
  let checking: Promise<void> | undefined;

  /**
   * Runs a function that writes, and notes whether the database works. `at`: when the records arrived. `hasStored`: whether
   * rows are stored now.
   */
  const attempt = async <Result>(
    write: () => Promise<Result>,
    {
      ms,
      at = now(),
      hasStored = () => false,
    }: { ms: number; at?: number; hasStored?: (result: Result) => boolean },
  ): Promise<Result> => {
    underWay++;
    try {
      const result = await inTime(write(), ms);
      if (problem) {
        tell.metric('trouble', 0);
        since = at;
        outages.ended(at);
      }
      problem = undefined;
      if (hasStored(result)) {
        [storedAt, since] = [now(), undefined];
        outages.stored(at);
      }
      trouble.healed();
      return result;
    } catch (error) {
      if (!problem) {
        tell.metric('trouble', 1);
        since = at;
        outages.began(at, messageOf(error));
      }
      problem = messageOf(error);
      trouble.tell({ kind: 'store', message: problem });
      throw error;
    } finally {
      underWay--;
      triedAt = now();
    }
  };

  /** Writes records. Rejects if the database does not work. */
  const write = async (records: readonly Incoming[]): Promise<Written[]> => {
    const at = now();
    const written = await attempt(() => store.write(records), {
      ms: PATIENCE_MS,
      at: Math.min(at, ...records.map(({ receivedAt }) => Date.parse(receivedAt))),
      hasStored: (all) => all.some(({ outcome }) => outcome !== 'dead'),
    });
    tell.metric('store_ms', now() - at);
    const known = written.filter(({ outcome }) => outcome === 'known').length;
    if (known) tell.metric('repeats', known);
    if (written.some(({ outcome }) => outcome === 'stored')) setup.note('stored');
    written.forEach(({ outcome }, index) => {
      if (outcome === 'dead') refused?.(records[index]!.body.project);
    });
    return written;
  };

  const check = async (): Promise<void> => {
    // The clock may have been set back.
    if (Math.abs(now() - triedAt) < CHECK_EVERY_MS || underWay > 0) return;
    const asksForRoom = problem !== undefined;
    // Rows may still be stored for a while on a full disk: SQLite writes over its log.
    const isIdle = Math.abs(now() - (storedAt ?? -Infinity)) > ROOM_AFTER_MS;
    const ask = async (): Promise<void> => {
      await store.check({ asksForRoom });
      if (isIdle && (await store.room())?.free === 0)
        throw new Error('the disk is full: no room is left for rows');
    };
    const ms = asksForRoom ? ROOM_WITHIN_MS : CHECK_WITHIN_MS;
    await attempt(ask, { ms }).catch(() => {}); // `problem` has the words
  };
  const storing = (): Storing => ({
    state: problem ? 'failing' : since === undefined ? 'ok' : 'untried',
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(storedAt !== undefined && { last: new Date(storedAt).toISOString() }),
    ...(problem && { problem }),
  });

  const sink: Sink = {
    done: 'stored',
    take: async (records) => {
      if (problem && underWay > 0) return AWAY;
      try {
        const stored = await write(records);
        return records.map((record, index) => resultOf(record, stored[index]!));
      } catch {
        return AWAY;
      }
    },
    waitMs: () => (problem && underWay > 0 ? AWAY.waitMs : 0),
    problem: async () => {
      checking ??= check().finally(() => (checking = undefined));
      await checking;
      return problem;
    },
  };
  return { ...sink, write, storing };
};

export type StoreSink = ReturnType<typeof createStoreSink>;
