import { messageOf } from '../errors.js';
import type { BatchRecord, BatchResult } from '../wire.js';
import type { Tell } from './hooks.js';
import { BUSY_MS, later } from './later.js';
import type { Queue, Seen } from './ports.js';
import { createRunning } from './running.js';

/** Milliseconds a claim holds: as long as a queue may take to write. */
const CLAIM_MS = 30_000;

interface Effects {
  queue: Queue;
  seen: Seen;
  now: () => number;
  tell: Tell;
}

/**
 * Takes records into a queue, each once. The queue comes first and the mark after it: a process that dies
 * between the two leaves a record that may be queued twice, never one that is marked and lost.
 */
export const createAcceptance = ({ queue, seen, now, tell }: Effects) => {
  const join = createRunning();

  const safely = async (kind: 'queue' | 'seen', work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      tell.error({ kind, message: messageOf(error) });
      return false;
    }
  };

  /** Whether they are durable now. */
  const put = async (records: readonly BatchRecord[]): Promise<boolean> => {
    if (!records.length) return true;
    const at = now();
    const isPut = await safely('queue', () =>
      queue.put(records.map((record) => ({ ...record, at }))),
    );
    tell.metric('queue_put_ms', now() - at);
    await safely('seen', () =>
      isPut ? seen.finish(records.map(accepted)) : seen.forget(records.map(({ id }) => id)),
    );
    return isPut;
  };

  const accept = async (records: readonly BatchRecord[]): Promise<BatchResult[]> => {
    if (!records.length) return [];
    const sightings = await seen.begin(
      records.map(({ id }) => id),
      CLAIM_MS,
    );
    const isPut = await put(records.filter((_, index) => sightings[index]?.state === 'new'));
    return records.map((record, index) => {
      const sighting = sightings[index];
      if (sighting?.state === 'done') {
        tell.metric('seen_hits', 1);
        return sighting.result;
      }
      return sighting?.state === 'new' && isPut ? accepted(record) : later(record.id, BUSY_MS);
    });
  };

  const start = (fresh: readonly BatchRecord[]): readonly Promise<BatchResult>[] => {
    const all = accept(fresh).catch((error: unknown) => {
      tell.error({ kind: 'seen', message: messageOf(error) });
      return [];
    });
    return fresh.map(({ id }, index) =>
      all.then((results) => results[index] ?? later(id, BUSY_MS)),
    );
  };

  return (records: readonly BatchRecord[]): Promise<BatchResult[]> => {
    const { results, repeats } = join(records, start);
    if (repeats) tell.metric('seen_hits', repeats);
    return Promise.all(results);
  };
};

const accepted = ({ id }: BatchRecord): BatchResult => ({ id, outcome: 'accepted', status: 0 });
