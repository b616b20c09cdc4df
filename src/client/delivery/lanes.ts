import type { Entry } from '../outbox/parcel.js';
import { isUnderWay } from '../outbox/states.js';

interface Rules {
  /** At most this many requests. */
  limit: number;
  /** Whether a user's record has to wait for older ones of that user that are not in memory. */
  mustWait: (entry: Entry) => boolean;
  /** Whether a record may be tried now. */
  isDue: (entry: Entry) => boolean;
  /** Whether a request with the records of the group can take this one, too. */
  fits: (group: readonly Entry[], entry: Entry) => boolean;
  /**
   * Given if the page goes away. Then an event may go beside the identify before it, since there is no time to wait
   * for an answer. Says whether a record may be handed off.
   */
  leaving?: (entry: Entry) => boolean;
}

/** Stands for a request that is under way: no record can join it. */
const IN_FLIGHT: Entry[] = [];

/**
 * Chooses what may be sent now, oldest first: a group of records for each request. Identifies of one user go one at a
 * time and in order. A user's events go after the identifies before them: in the same request if they fit, or else
 * after its answer. Everything else may overtake.
 */
export const nextInLine = (entries: Iterable<Entry>, rules: Rules): Entry[][] => {
  const { limit, mustWait, isDue, fits, leaving } = rules;
  const groups: Entry[][] = [];
  /** Users whose later records have to wait. */
  const held = new Set<string | undefined>();
  /** Users with an identify that goes now, and its request. */
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
