import { messageOf } from '../errors.js';
import type { BatchRecord, BatchResult } from '../wire.js';
import { createClaims } from './claims.js';
import type { Tell } from './hooks.js';
import { unclaimed } from './later.js';
import type { Putter, Seen } from './ports.js';
import { createRunning } from './running.js';

/** Milliseconds a claim holds: as long as a queue may take to write. */
const CLAIM_MS = 30_000;

interface Effects {
  queue: Putter;
  seen: Seen;
  now: () => number;
  tell: Tell;
}

/**
 * Takes records into a queue, each once. The queue comes first and the mark after it: a process that dies
 * between the two leaves a record that may be queued twice, never one that is marked and lost.
 */
export const createAcceptance = ({ queue, seen, now, tell }: Effects) => {
  const join = createRunning(tell);
  const claims = createClaims(seen, tell);

  /** Whether they are durable now. */
  const put = async (records: readonly BatchRecord[]): Promise<boolean> => {
    const at = now();
    try {
      await queue.put(records.map((record) => ({ ...record, at })));
      tell.metric('queue_put_ms', now() - at);
      return true;
    } catch (error) {
      tell.error({ kind: 'queue', message: messageOf(error) });
      return false;
    }
  };

  const accept = async (records: readonly BatchRecord[]): Promise<BatchResult[]> => {
    const sightings = await Promise.all(claims.claim(records, CLAIM_MS));
    const fresh = records.filter((_, index) => sightings[index]?.state === 'new');
    const isPut = fresh.length > 0 && (await put(fresh));
    if (isPut) await claims.finish(fresh.map((record) => [record, accepted(record)]));
    else if (fresh.length) await claims.forget(fresh);
    return records.map((record, index) => {
      const sighting = sightings[index];
      if (sighting?.state === 'done') {
        tell.metric('seen_hits', 1);
        return sighting.result;
      }
      return sighting?.state === 'new' && isPut ? accepted(record) : unclaimed(record.id, sighting);
    });
  };

  const start = (fresh: readonly BatchRecord[]): readonly Promise<BatchResult>[] => {
    const all = accept(fresh);
    return fresh.map((_, index) => all.then((results) => results[index]!));
  };

  return (records: readonly BatchRecord[]): Promise<BatchResult[]> => join(records, start);
};

const accepted = ({ id }: BatchRecord): BatchResult => ({ id, outcome: 'accepted', status: 0 });
