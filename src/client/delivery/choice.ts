import type { Entry } from '../outbox/parcel.js';

/**
 * Chooses the records of the next requests: those with the fewest attempts, so that a bad one never holds up the
 * others, and of these the oldest.
 *
 * Identifies of a user go one at a time, and the events after them in the same request or after its answer. Everything
 * else may overtake.
 *
 * @param entries the records of this page, oldest first
 * @param places requests that may be started
 * @param isLeaving whether the page is left: events go beside their identify, and attempts do not count
 * @param mayGo whether the record may be sent now, apart from the order of its user
 * @param joins whether a record may go into the same request as these
 */
export const choose = (
  entries: Iterable<Entry>,
  places: number,
  isLeaving: boolean,
  mayGo: (entry: Entry, isLeaving: boolean) => boolean,
  joins: (group: readonly Entry[], entry: Entry) => boolean,
): Entry[][] => {
  let groups: Entry[][] = [];
  let fewest = Infinity;
  /** For each user the request that has the last identify before this record; undefined if that one is not sent now. */
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
