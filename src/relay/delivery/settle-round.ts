import { delayAfter } from '../../interface/backoff.js';
import type { BatchResult } from '../../interface/wire.js';
import type { Taken } from '../queue/ports.js';

/** While the set-up is wrong, the service is tried this often. */
const SETUP_PAUSE_MS = 300_000;

/** What to do with each record of a batch. */
export interface Settlement {
  done: Taken[];
  /** Refused by the service, with its status. */
  refused: [taken: Taken, status: number][];
  /** To be given back, each with its delay in milliseconds. */
  back: [taken: Taken, delayMs: number][];
  /** How long to send nothing because the set-up is wrong, in milliseconds; 0 where it is right. */
  pauseMs: number;
}

interface Rules {
  /** Milliseconds until it is worth asking the service. */
  waitMs: number;
  random: () => number;
}

/**
 * Sorts the records of a batch by their results. While the whole service is in trouble, its records wait
 * until requests may be made again. A record that fails while others pass gets a delay of its own, by the
 * snippet's backoff, and at least the service's `Retry-After`.
 */
export const settleRound = (
  round: readonly Taken[],
  results: readonly BatchResult[],
  { waitMs, random }: Rules,
): Settlement => {
  const has = (...outcomes: string[]) => results.some(({ outcome }) => outcomes.includes(outcome));
  const pauseMs = has('blocked') && !has('delivered', 'rejected') ? SETUP_PAUSE_MS : 0;
  const settlement: Settlement = { done: [], refused: [], back: [], pauseMs };
  round.forEach((taken, index) => {
    const {
      outcome,
      status,
      retry_after: wish = 0,
    } = results[index] ?? { outcome: 'retry', status: 0 };
    if (outcome === 'delivered' || outcome === 'accepted') settlement.done.push(taken);
    else if (outcome === 'rejected') settlement.refused.push([taken, status]);
    else {
      const floorMs = Math.max(wish * 1_000, waitMs, pauseMs);
      const isAll = waitMs > 0 || pauseMs > 0;
      const delayMs = isAll ? floorMs : delayAfter(taken.attempts - 1, floorMs, random);
      settlement.back.push([taken, delayMs]);
    }
  });
  return settlement;
};
