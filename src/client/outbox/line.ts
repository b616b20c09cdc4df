import { nameOf, type Entry, type Parcel, type ParcelKey } from './parcel.js';
import { isUnderWay } from './states.js';

const isLater = ({ key: [at, maker, number] }: Parcel, other: Parcel): boolean =>
  maker === other.key[1] ? number > other.key[2] : at > other.key[0];

/** The parcels in memory, oldest first. */
export const createLine = () => {
  const parcels: Parcel[] = [];
  const byKey = new Map<string, Parcel>();
  const dirty = new Set<Parcel>();
  let count = 0;
  let bytes = 0;
  let claimed = 0;

  const tally = ({ size, order }: Entry, sign: 1 | -1) => {
    count += sign;
    bytes += sign * size;
    if (order === 0) claimed += sign;
  };

  const line = {
    parcels: parcels as readonly Parcel[],
    /** Parcels that have changed since they were last given to the database. */
    dirty,
    has: (key: ParcelKey): boolean => byKey.has(nameOf(key)),
    /** How many claimed records are in memory. */
    claimed: (): number => claimed,
    count: (): number => count,
    /** The size of all records in memory. */
    bytes: (): number => bytes,
    /** The records, oldest first. They may be added and removed meanwhile. */
    *entries(): Generator<Entry, undefined> {
      for (const { entries } of parcels) yield* entries;
    },
    /** Puts in a parcel that has no records yet. */
    insert: (parcel: Parcel): void => {
      let at = parcels.length;
      while (at > 0 && isLater(parcels[at - 1]!, parcel)) at--;
      parcels.splice(at, 0, parcel);
      byKey.set(nameOf(parcel.key), parcel);
    },
    remove: (parcel: Parcel): void => {
      const at = parcels.indexOf(parcel);
      if (at < 0) return;
      parcels.splice(at, 1);
      byKey.delete(nameOf(parcel.key));
      dirty.delete(parcel);
      for (const entry of parcel.entries) tally(entry, -1);
    },
    /** Puts a record into its parcel, which is in the line. */
    add: (entry: Entry): void => {
      entry.parcel.entries.add(entry);
      tally(entry, 1);
    },
    /** Takes a record out of its parcel. */
    take: (entry: Entry): void => {
      const isHeld = entry.parcel.state !== 'gone';
      if (entry.parcel.entries.delete(entry) && isHeld) tally(entry, -1);
    },
    /** The record to drop first if there are too many: the oldest event, or else the oldest identify. */
    surplus: (): Entry | undefined => {
      let identify: Entry | undefined;
      for (const entry of line.entries()) {
        if (isUnderWay(entry)) continue;
        if (entry.record.type === 'event') return entry;
        identify ??= entry;
      }
      return identify;
    },
  };
  return line;
};

export type Line = ReturnType<typeof createLine>;
