import type { Entry } from '../outbox/parcel.js';
import type { Context } from './context.js';
import { nextInLine } from './lanes.js';
import type { Requests } from './requests.js';

/** Records looked at for one that has not failed yet. */
const PROBE_CHOICE = 50;
/** As good as so many failures: one that has failed while others passed. */
const SUSPECT = 1_000;
/** Requests that outlive the page, at the most: Chromium carries 256 and loses what is beyond (measured). */
const HANDOFF = 128;

interface Parts {
  requests: Requests;
  /** A record may be tried now. */
  isDue: (entry: Entry) => boolean;
}

/** Which records go next, as those of one request each. */
export const createChoice = (context: Context, { requests, isDue }: Parts) => {
  const { outbox, sender, health, batching, troubles } = context;
  const { fits } = batching;

  /** A probe with records that have not failed yet: a bad one must not hold up the line. */
  const leastDoubtful = (candidates: readonly Entry[]): Entry[] => {
    const doubtOf = (entry: Entry) => {
      const { failures, isSuspect } = troubles.see(entry);
      return failures + (isSuspect ? SUSPECT : 0);
    };
    const least = Math.min(...candidates.map(doubtOf));
    return candidates.filter((entry) => doubtOf(entry) === least);
  };

  return {
    next: (limit: number): Entry[][] => {
      const rules = { limit, mustWait: outbox.mustWait, isDue, fits };
      const alone = { ...rules, limit: PROBE_CHOICE, fits: () => false };
      const entries = health.isProbing()
        ? leastDoubtful(nextInLine(outbox.young(), alone).flat())
        : outbox.young();
      return nextInLine(entries, rules);
    },
    /** What the browser takes from a page that goes away. */
    leaving: (): Entry[][] => {
      let left = sender.room();
      const leaving = (entry: Entry): boolean => {
        const weight = batching.weigh([entry]);
        if (weight > left || !outbox.canSend(entry)) return false;
        left -= weight;
        return true;
      };
      const limit = HANDOFF - requests.count();
      const mustWait = (entry: Entry) => outbox.mustWait(entry, true);
      // With what is in flight: the outbox may have let go of it when the page was left before.
      const entries = [...requests.entries(), ...outbox.young()];
      return nextInLine(entries, { limit, mustWait, isDue, fits, leaving });
    },
  };
};

export type Choice = ReturnType<typeof createChoice>;
