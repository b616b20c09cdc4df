import { messageOf } from '../../interface/errors.js';
import { inTime } from '../../interface/in-time.js';
import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import { createClaims, createRunning } from '../delivery/claims.js';
import { createReportOnce, type Tell } from '../hooks.js';
import { isQueueFull, type Putter, type Seen } from '../queue/ports.js';
import { DOWN_MS, retryLater } from '../queue/record.js';

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

  /** Tells that the queue has failed. Answers how many milliseconds to wait. */
  const failed = (error: unknown): number => {
    const isFull = isQueueFull(error);
    // One client that has too many is no trouble of the queue: others go on.
    if (isFull && error.ofClient) return FULL_MS;
    trouble.tell({ kind: 'queue', message: messageOf(error) });
    refusal = { message: messageOf(error), at: now() };
    return isFull ? FULL_MS : DOWN_MS;
  };

  /** Puts the records. Answers 0 when they are durable, or else how many milliseconds to wait. */
  const put = async (
    records: readonly BatchRecord[],
    { until, client }: AcceptOptions,
  ): Promise<number> => {
    const at = now();
    const whose = client && { client };
    try {
      await inTime(queue.put(records.map((record) => ({ ...record, at, ...whose }))), until - at);
      tell.metric('queue_put_ms', now() - at);
      trouble.healed();
      refusal = undefined;
      return 0;
    } catch (error) {
      return failed(error);
    }
  };

  const acceptNow = async (
    records: readonly BatchRecord[],
    options: AcceptOptions,
  ): Promise<BatchResult[]> => {
    const claimMs = Math.max(0, options.until - now()) + CLAIM_MS;
    const sightings = claims.claim(records, { ...options, claimMs });
    if ((await Promise.all(sightings)).includes(undefined))
      refusal = { message: 'the ids of known records cannot be read', at: now() };
    return claims.passOn(records, sightings, options, async (fresh) => {
      const waitMs = await put(fresh, options);
      if (waitMs) return fresh.map(({ id }) => retryLater(id, waitMs));
      const results = fresh.map(({ id }) => ({ id, outcome: 'accepted' as const, status: 0 }));
      await claims.finish(fresh, results, options);
      return results;
    });
  };

  return {
    failed,
    accept: (records: readonly BatchRecord[], options: AcceptOptions): Promise<BatchResult[]> =>
      Promise.all(
        join(records, (fresh) => {
          const all = acceptNow(fresh, options);
          return fresh.map((_, index) => all.then((results) => results[index]!));
        }),
      ),
    /** Why no records are taken, if some were refused a moment ago. */
    problem: (): string | undefined =>
      refusal && now() - refusal.at < STALE_MS ? refusal.message : undefined,
  };
};
