import { byteLength } from '../record/byte-length.js';
import type { OutboxRecord } from '../types.js';
import type { ParcelState, RecordState } from './states.js';

/** Records of one task that are stored as one value, at the most. */
export const PARCEL_RECORDS = 20;

/** Time of the first record, the page that made it, and its number there: parcels sort by time. */
export type ParcelKey = [at: number, maker: string, number: number];

/** A key as text, to look a parcel up by. */
export const nameOf = (key: ParcelKey): string => key.join(' ');

/** Up to 20 records that are stored, claimed, noted and deleted together. */
export interface Parcel {
  key: ParcelKey;
  state: ParcelState;
  /** Earliest time at which another page may take what stands in the database; 0 while nothing does. */
  until: number;
  /** Records without an end, in the order of the calls. */
  entries: Set<Entry>;
  /** Ids of records that have come to their end, and may still stand in the database. */
  done: Set<string>;
  /** The life of this page that let it go; nothing once it has given up a request whose end it does not know. */
  leftBy?: string | undefined;
  /** It came out of an exit note: emptied, it leaves a tombstone, so that the note cannot revive it. */
  isNoted: boolean;
}

/** A record in this page's care. */
export interface Entry {
  record: OutboxRecord;
  state: RecordState;
  parcel: Parcel;
  /** Place among the calls made here; 0 for what was claimed, which is due at once. */
  order: number;
  /** Bytes of the body. */
  size: number;
}

export const createParcel = (key: ParcelKey, state: ParcelState = 'new'): Parcel => ({
  key,
  state,
  until: 0,
  entries: new Set(),
  done: new Set(),
  isNoted: false,
});

export const createEntry = (record: OutboxRecord, parcel: Parcel, order = 0): Entry => ({
  record,
  state: 'waiting',
  parcel,
  order,
  size: byteLength(record.body),
});

export const idOf = ({ record }: Entry): string => record.id;
