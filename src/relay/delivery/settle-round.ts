import { waitInTrouble } from '../../interface/backoff.js';
import type { BatchResult } from '../../interface/wire.js';
import type { Taken } from '../queue/ports.js';

/** What to do with each record of a batch. */
export interface Settlement {
  done: Taken[];
  /** Refused by the service, with its status. */
  refused: [taken: Taken, status: number][];
  /** To be given back, each with its delay in milliseconds; 0 for records that were not sent. */
  back: [taken: Taken, delayMs: number][];
}

interface Effects {
  now: () => number;
  random: () => number;
}

/**
 * Sorts the records of a batch by their results. A record that fails waits by itself: a second at first, then
 * about half its age, and at least as long as the service has asked for.
 */
export const settleRound = (
  round: readonly Taken[],
  results: readonly BatchResult[],
  { now, random }: Effects,
): Settlement => {
  const settlement: Settlement = { done: [], refused: [], back: [] };
  const delayOf = ({ attempts, record }: Taken): number =>
    waitInTrouble(attempts > 1 ? now() - record.at : 0, random);
  round.forEach((taken, index) => {
    const result = results[index] ?? { outcome: 'retry', status: 0 };
    const { outcome, status, retry_after: wish = 0, untried } = result as BatchResult;
    if (outcome === 'delivered' || outcome === 'accepted') settlement.done.push(taken);
    else if (outcome === 'rejected') settlement.refused.push([taken, status]);
    else settlement.back.push([taken, untried ? 0 : Math.max(wish * 1_000, delayOf(taken))]);
  });
  return settlement;
};
