import { byteLength, sinceOpened } from '../page.js';
import type { OutboxRecord } from '../types.js';

/** A parcel has at most so many records. */
export const PARCEL_RECORDS = 20;
/** The form of what is stored. A value of another version is not read. */
const VERSION = 3;

/** Time of the first record, the page that made the parcel, its number there: keys sort in time order. */
export type ParcelKey = [at: number, maker: string, number: number];

/** A parcel as the database and exit notes have it. */
export interface StoredParcel {
  v: number;
  /** The life that may send it. Others may once that has no lease. */
  life: string;
  /** Ids of the records that the service may have. */
  flight: string[];
  records: OutboxRecord[];
  /** It came out of an exit note, which a killed browser may bring back: it ends as an empty tombstone. */
  isNoted: boolean;
}

/** Up to 20 records that are stored, claimed, noted and deleted together. */
export interface Parcel {
  key: ParcelKey;
  entries: Set<Entry>;
  /** Whether the database has had it: not yet, perhaps, or certainly. */
  stored: 'no' | 'perhaps' | 'yes';
  /** Writes of it that have begun and not ended. */
  writes: number;
  isNoted: boolean;
}

/** A record in memory. */
export interface Entry {
  record: OutboxRecord;
  parcel: Parcel;
  /** The number of its call on this page; 0 if another page or life has made it. */
  order: number;
  bytes: number;
  /** When it was made, by the page's monotonic clock: nobody can set that. */
  born: number;
  /** A request with it is under way. */
  isSent: boolean;
  /** The database has to say that the service may have it. */
  isNamed: boolean;
}

export const createParcel = (
  key: ParcelKey,
  stored: Parcel['stored'],
  isNoted = false,
): Parcel => ({
  key,
  entries: new Set(),
  stored,
  writes: 0,
  isNoted,
});

export const createEntry = (
  record: OutboxRecord,
  parcel: Parcel,
  order: number,
  age = 0,
): Entry => ({
  record,
  parcel,
  order,
  bytes: byteLength(record.body),
  born: sinceOpened() - age,
  isSent: false,
  isNamed: false,
});

export const storedOf = ({ entries, isNoted }: Parcel, life: string): StoredParcel => {
  const all = [...entries];
  return {
    v: VERSION,
    life,
    flight: all.filter(({ isNamed }) => isNamed).map(({ record }) => record.id),
    records: all.map(({ record }) => record),
    isNoted,
  };
};

/** Puts the parcel as it is now. One without records goes, unless a note may bring it back. */
export const putParcel = (store: IDBObjectStore, key: ParcelKey, value: StoredParcel): void => {
  if (value.records.length || value.isNoted) store.put(value, key);
  else store.delete(key);
};

/** Whether this version has written the value. */
export const isReadable = (value: Partial<StoredParcel> | undefined): value is StoredParcel =>
  value?.v === VERSION;

/** The order in which parcels are sent: a page's own in the order of their making, others by time. */
export const byAge = ({ key: a }: Parcel, { key: b }: Parcel): number =>
  a[1] === b[1] ? a[2] - b[2] : a[0] - b[0];
