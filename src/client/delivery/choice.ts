import type { Entry } from '../outbox/parcel.js';

/**
 * Chooses the records of the next requests: those with the fewest attempts, so that a bad one never holds up the
 * others, and of these the oldest.
 *
 * The identifies of one user are sent one at a time. A user's event goes in the same request as the identify before it,
 * or after the answer to that. There is no other order.
 *
 * @param entries the records of this page, oldest first
 * @param places requests that may be started
 * @param isLeaving whether the page is left: then events do not wait for their identify, and attempts do not count
 * @param mayGo whether the record may be sent now, whatever the order of its user's records
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
  /** By user: the request with the latest identify so far; undefined if that identify is not sent now. */
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
