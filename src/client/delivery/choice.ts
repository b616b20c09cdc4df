import type { Entry } from '../outbox/parcel.js';
import type { Context } from './context.js';
import { nextInLine } from './lanes.js';
import type { Requests } from './requests.js';

/** A probe is chosen among this many records. */
const PROBE_CHOICE = 50;
/** A record that has failed while others passed counts as one with this many failures. */
const SUSPECT = 1_000;
/** At most this many requests are handed off. Chromium carries 256 past the end of a page, no more (measured). */
const HANDOFF = 128;

interface Parts {
  requests: Requests;
  /** Whether a record may be tried now. */
  isDue: (entry: Entry) => boolean;
}

/** Chooses which records go next: a group for each request. */
export const createChoice = (context: Context, { requests, isDue }: Parts) => {
  const { outbox, sender, health, batching, troubles } = context;
  const { fits } = batching;

  /** The records that have failed least. One of them is the probe, so that a bad record does not hold up the others. */
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
    /** The records to hand off: as many as the browser takes from a page that goes away. */
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
      // Records in flight count as well. The outbox may have let go of them when the page was left before.
      const entries = [...requests.entries(), ...outbox.young()];
      return nextInLine(entries, { limit, mustWait, isDue, fits, leaving });
    },
  };
};

export type Choice = ReturnType<typeof createChoice>;
