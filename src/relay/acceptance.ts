import { messageOf } from '../errors.js';
import type { BatchRecord, BatchResult } from '../wire.js';
import type { Tell } from './hooks.js';
import type { Queue, Seen } from './ports.js';
import { createRunning } from './running.js';

/** Milliseconds a claim holds: as long as a queue may take to write. */
const CLAIM_MS = 30_000;
/** Seconds to wait for a record another process is busy with. */
const BUSY_S = 2;

interface Effects {
  queue: Queue;
  seen: Seen;
  now: () => number;
  tell: Tell;
}

const later = (id: string): BatchResult => ({
  id,
  outcome: 'retry',
  status: 0,
  retry_after: BUSY_S,
});

/**
 * Takes records into a queue, each once. The queue comes first and the mark after it: a process that dies
 * between the two leaves a record that may be queued twice, never one that is marked and lost.
 */
export const createAcceptance = ({ queue, seen, now, tell }: Effects) => {
  const join = createRunning();

  const put = async (records: readonly BatchRecord[]): Promise<boolean> => {
    const started = now();
    try {
      await queue.put(records.map((record) => ({ ...record, at: started })));
      tell.metric('queue_put_ms', now() - started);
      return true;
    } catch (error) {
      tell.error({ kind: 'queue', message: messageOf(error) });
      return false;
    }
  };

  const mark = async (write: () => Promise<void>): Promise<void> => {
    try {
      await write();
    } catch (error) {
      tell.error({ kind: 'seen', message: messageOf(error) });
    }
  };

  const accept = async (records: readonly BatchRecord[]): Promise<BatchResult[]> => {
    if (!records.length) return [];
    const ids = records.map(({ id }) => id);
    const sightings = await seen.begin(ids, CLAIM_MS);
    const fresh = records.filter((_, index) => sightings[index]?.state === 'new');
    const isPut = !fresh.length || (await put(fresh));
    const accepted = fresh.map(({ id }): BatchResult => ({ id, outcome: 'accepted', status: 0 }));
    if (fresh.length) {
      await mark(() => (isPut ? seen.finish(accepted) : seen.forget(fresh.map(({ id }) => id))));
    }
    const hits = sightings.filter(({ state }) => state === 'done').length;
    if (hits) tell.metric('seen_hits', hits);
    return records.map(({ id }, index) => {
      const sighting = sightings[index];
      if (sighting?.state === 'done') return { ...sighting.result, id };
      return sighting?.state === 'new' && isPut
        ? { id, outcome: 'accepted', status: 0 }
        : later(id);
    });
  };

  const start = (fresh: readonly BatchRecord[]): readonly Promise<BatchResult>[] => {
    const all = accept(fresh).catch((error: unknown) => {
      tell.error({ kind: 'seen', message: messageOf(error) });
      return [];
    });
    return fresh.map(({ id }, index) => all.then((results) => results[index] ?? later(id)));
  };

  return (records: readonly BatchRecord[]): Promise<BatchResult[]> => {
    const { results, repeats } = join(records, start);
    if (repeats) tell.metric('seen_hits', repeats);
    return Promise.all(results);
  };
};
