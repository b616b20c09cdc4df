import { byteLength, sinceOpened } from '../page.js';
import type { OutboxRecord } from '../types.js';

/** A parcel has at most so many records. */
export const PARCEL_RECORDS = 20;
/** The form of what is stored. A value of another version is not read. */
const VERSION = 3;

/** Time of the first record, the page that made the parcel, its number there: keys sort in time order. */
export type ParcelKey = [at: number, maker: string, number: number];

/** A record as it is kept: with what its next attempt depends on. */
export interface KeptRecord extends OutboxRecord {
  /** Time of its first failure; left out if it has not failed. */
  failedSince?: number;
  /** It is not sent again before this time. */
  due?: number;
}

/** A parcel as the database and exit notes have it. */
export interface StoredParcel {
  v: number;
  /** The life that may send it. When that life has no lease any more, any other may claim it. */
  life: string;
  /** Ids of the records that the service may have. */
  flight: string[];
  records: KeptRecord[];
  /**
   * Restored from an exit note. A killed browser may restore that note again, so an empty value stays under this key and
   * is not deleted.
   */
  isNoted: boolean;
}

/**
 * What the database has of a parcel, and what becomes of the parcel if the page is killed:
 *
 * | state     | the database has       | after a kill                                          |
 * | --------- | ---------------------- | ----------------------------------------------------- |
 * | `no`      | nothing                | lost, unless the exit note has the parcel             |
 * | `perhaps` | nothing, or the parcel | either: a write is under way, or nobody saw its end   |
 * | `yes`     | the parcel, as written | another page claims it; for its records see `Entry`   |
 */
export type StoredState = 'no' | 'perhaps' | 'yes';

/** Up to 20 records that are stored, claimed, noted and deleted together. */
export interface Parcel {
  key: ParcelKey;
  entries: Set<Entry>;
  stored: StoredState;
  /** Writes of the parcel that have begun and not ended. */
  writes: number;
  isNoted: boolean;
}

/**
 * A record in memory. If the page is killed, the next page that claims the stored record handles it by its names:
 *
 * | `isNamed` | `isSent` | the record                                     | after a kill                    |
 * | --------- | -------- | ---------------------------------------------- | ------------------------------- |
 * | no        | no       | waits                                          | sent                            |
 * | yes       | no       | is named, its request has not started          | `unknown`, though never sent    |
 * | yes       | yes      | is under way, and the browser may complete it  | `unknown`                       |
 * | no        | yes      | is under way, to a receiver that knows repeats | sent again, stored once         |
 * | no        | yes      | is under way in a request without `keepalive`   | sent again, perhaps stored twice |
 */
export interface Entry {
  record: KeptRecord;
  parcel: Parcel;
  /** The number of the call on this page; 0 if the record was claimed. */
  order: number;
  bytes: number;
  /** Time of the call by the page's monotonic clock, which nobody can set. */
  born: number;
  /** A request with the record is under way. */
  isSent: boolean;
  /** The database has to say that the service may have the record. */
  isNamed: boolean;
}

export const createParcel = (key: ParcelKey, stored: StoredState, isNoted = false): Parcel => ({
  key,
  entries: new Set(),
  stored,
  writes: 0,
  isNoted,
});

export const createEntry = (record: KeptRecord, parcel: Parcel, order: number, age = 0): Entry => ({
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

/** Puts a parcel, or deletes it if it has no records. If a note may bring it back, an empty value stays. */
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
