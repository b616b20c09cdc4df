import { messageOf } from '../../interface/errors.js';
import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import { createClaims, createRunning } from '../delivery/claims.js';
import type { Tell } from '../hooks.js';
import { inTime } from '../time.js';
import { DOWN_MS, retryLater, unclaimed } from '../queue/record.js';
import { isQueueFull, type Putter, type Seen } from '../queue/ports.js';
import { createReportOnce } from '../report-once.js';

/** A claim lasts this much longer than the queue may take to write, in milliseconds. */
const CLAIM_MS = 30_000;
/** A full queue needs longer than one that was away for a moment. */
const FULL_MS = 30_000;

/** After so long without records, nobody knows whether the queue would take some. */
const STALE_MS = 10_000;

interface Effects {
  queue: Putter;
  seen: Seen;
  now: () => number;
  tell: Tell;
}

interface AcceptOptions {
  /** The queue and the store have to answer by this time, milliseconds since the epoch. */
  until: number;
  /** Whose records these are. */
  client: string;
}

/**
 * Puts records into a queue, each once. The queue comes first and the mark in the store after it: when the
 * process dies between the two, a record may be queued twice, but none is marked and lost.
 */
export const createAcceptance = ({ queue, seen, now, tell }: Effects) => {
  const join = createRunning(tell);
  const claims = createClaims(seen, now, tell);
  const trouble = createReportOnce(tell, now);
  /** The last time that records could not be taken, if none have been taken since. */
  let refusal: { message: string; at: number } | undefined;

  /** Puts the records. Answers 0 when they are durable, or else how many milliseconds to wait. */
  const put = async (
    records: readonly BatchRecord[],
    { until, client }: AcceptOptions,
  ): Promise<number> => {
    const at = now();
    const whose = client && { client };
    try {
      await inTime(until - at, () =>
        queue.put(records.map((record) => ({ ...record, at, ...whose }))),
      );
      tell.metric('queue_put_ms', now() - at);
      trouble.healed();
      refusal = undefined;
      return 0;
    } catch (error) {
      // One client that has too many is no trouble of the queue: others go on.
      if (isQueueFull(error) && error.ofClient) return FULL_MS;
      trouble.tell({ kind: 'queue', message: messageOf(error) });
      refusal = { message: messageOf(error), at: now() };
      return isQueueFull(error) ? FULL_MS : DOWN_MS;
    }
  };

  const accept = async (
    records: readonly BatchRecord[],
    { until, client }: AcceptOptions,
  ): Promise<BatchResult[]> => {
    const claimMs = Math.max(0, until - now()) + CLAIM_MS;
    const sightings = await Promise.all(claims.claim(records, { claimMs, until, client }));
    if (sightings.includes(undefined)) refusal = { message: UNKNOWN, at: now() };
    const fresh = records.filter((_, index) => sightings[index]?.state === 'new');
    const waitMs = fresh.length > 0 ? await put(fresh, { until, client }) : 0;
    const results = fresh.map((record) => [record, accepted(record)] as const);
    if (waitMs) await claims.forget(fresh, until);
    else if (fresh.length) await claims.finish(results, { until, client });
    return records.map((record, index) => {
      const sighting = sightings[index];
      if (sighting?.state === 'done') {
        tell.metric('seen_hits', 1);
        return sighting.result;
      }
      if (sighting?.state !== 'new') return unclaimed(record.id, sighting);
      return waitMs ? retryLater(record.id, waitMs) : accepted(record);
    });
  };

  const start = (
    fresh: readonly BatchRecord[],
    options: AcceptOptions,
  ): readonly Promise<BatchResult>[] => {
    const all = accept(fresh, options);
    return fresh.map((_, index) => all.then((results) => results[index]!));
  };

  return {
    accept: (records: readonly BatchRecord[], options: AcceptOptions): Promise<BatchResult[]> =>
      join(records, (fresh) => start(fresh, options)),
    /** Why no records are taken, if some were refused a moment ago. */
    problem: (): string | undefined =>
      refusal && now() - refusal.at < STALE_MS ? refusal.message : undefined,
  };
};

const UNKNOWN = 'the ids of known records cannot be read';
const accepted = ({ id }: BatchRecord): BatchResult => ({ id, outcome: 'accepted', status: 0 });
