import type { Entry } from '../outbox/parcel.js';
import type { Context } from './context.js';
import { nextInLine } from './lanes.js';
import type { Requests } from './requests.js';

/** At most this many requests are handed off. Chromium carries 256 past the end of a page, no more (measured). */
const HANDOFF = 128;

interface Parts {
  requests: Requests;
  /** Whether a record is part of a flush, whenever it may be tried. */
  isAsked: (entry: Entry) => boolean;
}

const attemptsOf = ({ record }: Entry): number => record.attempts;

/** Chooses which records go next: a group for each request. */
export const createChoice = (context: Context, { requests, isAsked }: Parts) => {
  const { outbox, sender, health, batching, troubles, knowsRepeats } = context;

  const isDue = (entry: Entry): boolean => isAsked(entry) && troubles.isDue(entry);

  return {
    /** The records that have been tried least often go first, so that a bad one never holds up the others. */
    next: (limit: number): Entry[][] => {
      const { mustWait } = outbox;
      const choose = (attempts: number): Entry[][] =>
        nextInLine(outbox.young(), {
          limit,
          mustWait,
          isDue: (entry) => attemptsOf(entry) === attempts && isDue(entry),
          fits: (group, entry) => group.length < health.pace() && batching.fits(group, entry),
        });
      const fresh = choose(0);
      if (fresh.length > 0) return fresh;
      const each = { limit: Infinity, mustWait, isDue, fits: () => false };
      const least = Math.min(...nextInLine(outbox.young(), each).flat().map(attemptsOf));
      return choose(least);
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
      return nextInLine(entries, {
        limit,
        mustWait,
        isDue: knowsRepeats() ? isAsked : isDue,
        fits: batching.fits,
        leaving,
      });
    },
  };
};

export type Choice = ReturnType<typeof createChoice>;
