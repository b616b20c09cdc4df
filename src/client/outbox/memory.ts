import type { Settings } from '../options.js';
import { sinceOpened, timeBy } from '../page.js';
import type { OutboxRecord } from '../types.js';
import { byAge, createEntry, createParcel, PARCEL_RECORDS } from './parcel.js';
import type { NotedParcel } from './note.js';
import type { Entry, Parcel } from './parcel.js';

/** A stored record cannot be as old as this: then its time is wrong. */
const YEAR_MS = 31_536_000_000;

/** The parcels of this page, in memory. */
export interface Memory {
  settings: () => Settings;
  /** The page's first life. It is in the keys of the parcels that the page makes, and so keeps their order. */
  maker: string;
  /** Oldest first. */
  parcels: Set<Parcel>;
  /** The parcel that the calls of this task go into. */
  open?: Parcel | undefined;
  /** All records, and the bytes of their bodies. */
  count: number;
  bytes: number;
  /** The number of the last call. A parcel has the number of its first one. */
  order: number;
}

export function* entriesOf({ parcels }: Pick<Memory, 'parcels'>): Generator<Entry, undefined> {
  for (const parcel of parcels) yield* parcel.entries;
}

const addEntry = (memory: Memory, entry: Entry) => {
  entry.parcel.entries.add(entry);
  memory.count++;
  memory.bytes += entry.bytes;
};

/** Adds the record of a call. The records of one task share a parcel. */
export const addRecord = (memory: Memory, record: OutboxRecord): Parcel => {
  const { open, parcels, maker } = memory;
  const order = ++memory.order;
  let parcel = open;
  if (!parcel || parcel.entries.size >= PARCEL_RECORDS) {
    memory.open = parcel = createParcel([record.at, maker, order], 'no');
    parcels.add(parcel);
    queueMicrotask(() => (memory.open = undefined));
  }
  addEntry(memory, createEntry(record, parcel, order));
  return parcel;
};

/**
 * How old a stored record is. The clock may be wrong now, or may have been at the call: what this page has made is not
 * older than the page, and an age of years only means that the clock was put right.
 */
const ageOf = ({ settings, maker }: Memory, { at }: OutboxRecord, { key }: Parcel): number => {
  const age = timeBy(settings().now) - at; // by the clock that has dated the call
  return age < YEAR_MS ? Math.min(age, key[1] === maker ? sinceOpened() : age) : 0;
};

/** Adds parcels that were claimed, oldest first, at the places that their ages give them. */
export const addParcels = (memory: Memory, claimed: readonly NotedParcel[]): Parcel[] => {
  const parcels = claimed.map(({ key, stored, records, isNoted }) => {
    const parcel = createParcel(key, stored, isNoted);
    for (const record of records)
      addEntry(memory, createEntry(record, parcel, 0, ageOf(memory, record, parcel)));
    return parcel;
  });
  memory.parcels = new Set([...memory.parcels, ...parcels].sort(byAge));
  return parcels;
};

/** Removes a record, if it is still there. */
export const removeEntry = (memory: Memory, entry: Entry): void => {
  if (!entry.parcel.entries.delete(entry)) return;
  memory.count--;
  memory.bytes -= entry.bytes;
};

/** Removes a parcel: it is stored for whoever comes next, or has no records any more. */
export const removeParcel = (memory: Memory, parcel: Parcel): void => {
  for (const entry of parcel.entries) removeEntry(memory, entry);
  memory.parcels.delete(parcel);
  memory.open = undefined;
};
