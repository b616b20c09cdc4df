import type { Entry } from '../outbox/parcel.js';
import { isUnderWay } from '../outbox/states.js';

interface Rules {
  /** Requests at the most. */
  limit: number;
  /** A user's record waits for older ones of that user that are not in memory. */
  mustWait: (entry: Entry) => boolean;
  /** A record may be tried now. */
  isDue: (entry: Entry) => boolean;
  /** Whether a request that has these takes this one, too. */
  fits: (group: readonly Entry[], entry: Entry) => boolean;
  /**
   * The page goes away: what follows an identify may go beside it, since its answer is not awaited. Says
   * whether a record may still be given to the browser.
   */
  leaving?: (entry: Entry) => boolean;
}

/** A request whose records are not known any more. */
const IN_FLIGHT: Entry[] = [];

/**
 * What may be sent now, oldest first, as the records of one request each. Identifies of one user go one at
 * a time and in order, and a user's events go after the identifies before them: in the same request, where
 * they fit, or after its answer. Everything else is free to overtake.
 */
export const nextInLine = (entries: Iterable<Entry>, rules: Rules): Entry[][] => {
  const { limit, mustWait, isDue, fits, leaving } = rules;
  const groups: Entry[][] = [];
  /** Users of whom nothing may go. */
  const held = new Set<string | undefined>();
  /** Users whose identify goes, and with which request. */
  const identifying = new Map<string | undefined, Entry[]>();
  for (const entry of entries) {
    const { user, type } = entry.record;
    const isIdentify = type === 'identify';
    if (isUnderWay(entry)) {
      if (isIdentify && leaving) identifying.set(user, IN_FLIGHT);
      else if (isIdentify) held.add(user);
      continue;
    }
    const last = groups.at(-1);
    const joins = last !== undefined && fits(last, entry);
    const group = joins ? last : [];
    const isBound = isIdentify || !leaving;
    const waits =
      !isDue(entry) ||
      (user !== undefined &&
        (held.has(user) ||
          (isBound && (identifying.get(user) ?? group) !== group) ||
          mustWait(entry)));
    if (!waits && !joins && groups.length >= limit) break;
    const goes = !waits && leaving?.(entry) !== false;
    if (goes && !joins) groups.push(group);
    if (goes) group.push(entry);
    if (isIdentify && goes) identifying.set(user, group);
    else if (isIdentify) held.add(user);
  }
  return groups;
};
