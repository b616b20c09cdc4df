import { messageOf } from '../util/errors.js';
import { inTime } from '../util/in-time.js';
import type { BatchResult } from '../interface/wire.js';
import { createReportOnce, type Tell } from './hooks.js';
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
const CHECK_WITHIN_MS = 5_000;

interface Parts {
  store: Pick<Store, 'write' | 'check'>;
  setup: Pick<Setup, 'note'>;
  tell: Tell;
  now: () => number;
}

const resultOf = ({ id }: Incoming, written: Written): BatchResult =>
  written.outcome === 'dead'
    ? { id, outcome: 'rejected', status: 422, message: written.message.slice(0, 200) }
    : { id, outcome: 'delivered', status: 200 };

/**
 * Writes records into a store. Only the last write decides whether the database counts as working. A check counts as a write, but
 * after a failure only if there is room for rows, too. While the database does not work, one write at a time is tried, and all other senders are asked at once to wait.
 */
export const createStoreSink = ({ store, setup, tell, now }: Parts) => {
  const trouble = createReportOnce(tell, now);
  let problem: string | undefined;
  /** When the last write ended. */
  let triedAt = -Infinity;
  let underWay = 0;
  let checking: Promise<void> | undefined;

  /** Runs a function that writes, and notes whether the database works. */
  const attempt = async <Result>(write: () => Promise<Result>, ms: number): Promise<Result> => {
    underWay++;
    try {
      const result = await inTime(write(), ms);
      if (problem) tell.metric('trouble', 0);
      problem = undefined;
      trouble.healed();
      return result;
    } catch (error) {
      if (!problem) tell.metric('trouble', 1);
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
    const written = await attempt(() => store.write(records), PATIENCE_MS);
    tell.metric('store_ms', now() - at);
    const known = written.filter(({ outcome }) => outcome === 'known').length;
    if (known) tell.metric('repeats', known);
    if (written.some(({ outcome }) => outcome === 'stored')) setup.note('stored');
    return written;
  };

  const check = async (): Promise<void> => {
    // The clock may have been set back.
    if (Math.abs(now() - triedAt) < CHECK_EVERY_MS || underWay > 0) return;
    const asksForRoom = problem !== undefined;
    await attempt(() => store.check({ asksForRoom }), CHECK_WITHIN_MS).catch(() => {}); // `problem` has the words
  };

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
  return { ...sink, write };
};

export type StoreSink = ReturnType<typeof createStoreSink>;
