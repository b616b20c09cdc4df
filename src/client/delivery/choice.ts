import type { Entry } from '../outbox/parcel.js';

interface Given {
  /** The records of this page, oldest first. */
  entries: Iterable<Entry>;
  /** Requests that may be started. */
  places: number;
  /** The page is left: events go beside their identify, and attempts do not count. */
  isLeaving: boolean;
  /** Whether a record may go into the same request as these. */
  joins: (group: readonly Entry[], entry: Entry) => boolean;
  /** Whether the record may be sent now, apart from the order of its user. */
  mayGo: (entry: Entry, isLeaving: boolean) => boolean;
}

/**
 * Chooses the records of the next requests: those with the fewest attempts, so that a bad one never holds up the
 * others, and of these the oldest.
 *
 * Identifies of a user go one at a time, and the events after them in the same request or after its answer. Everything
 * else may overtake.
 */
export const choose = ({ entries, places, isLeaving, joins, mayGo }: Given): Entry[][] => {
  let groups: Entry[][] = [];
  let fewest = Infinity;
  /** Users with an earlier identify, and the request that it is in; none if it does not go now. */
  const identifies = new Map<string | undefined, readonly Entry[] | undefined>();

  for (const entry of entries) {
    const { user, type } = entry.record;
    const attempts = isLeaving ? 0 : entry.record.attempts;
    const isIdentify = type === 'identify';
    let chosen = entry.isSent && isLeaving ? [entry] : undefined;
    if (!entry.isSent && attempts <= fewest && mayGo(entry, isLeaving)) {
      const last = attempts === fewest ? groups.at(-1) : undefined;
      const group = last && joins(last, entry) ? last : [];
      const earlier = identifies.get(user);
      const isFree =
        !user ||
        !identifies.has(user) ||
        (isLeaving && !isIdentify ? !!earlier : earlier === group);
      if (isFree) {
        if (attempts < fewest) {
          groups = [];
          fewest = attempts;
        }
        if (group === last || groups.length < places) {
          if (group !== last) groups.push(group);
          group.push(entry);
          chosen = group;
        } else if (!fewest) break; // no later record can have fewer attempts
      }
    }
    if (isIdentify) identifies.set(user, chosen);
  }
  return groups;
};
