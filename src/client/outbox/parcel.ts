import { byteLength } from '../record/byte-length.js';
import type { OutboxRecord } from '../types.js';
import type { ParcelState, RecordState } from './states.js';

/** A parcel has no more records than this. */
export const PARCEL_RECORDS = 20;

/** The time of the first record, the page that made the parcel, and its number there. IndexedDB sorts keys by time. */
export type ParcelKey = [at: number, maker: string, number: number];

/** A key as text, to look a parcel up by. */
export const nameOf = (key: ParcelKey): string => key.join(' ');

/** Up to 20 records that are stored, claimed, noted and deleted together. */
export interface Parcel {
  key: ParcelKey;
  state: ParcelState;
  /** From this time on another page may claim the parcel in the database; 0 while it is in memory alone. */
  until: number;
  /** The records that have not come to their end, in the order of the calls. */
  entries: Set<Entry>;
  /** The ids of records that have come to their end, and may still be in the database. */
  done: Set<string>;
  /** The life of this page that let the parcel go. Undefined, too, if the page gave up a request of it unanswered. */
  leftBy?: string | undefined;
  /** The parcel came out of an exit note. It ends as a tombstone, so that the note cannot revive its records. */
  isNoted: boolean;
}

/** A record in memory, and what the page knows of it. */
export interface Entry {
  record: OutboxRecord;
  state: RecordState;
  parcel: Parcel;
  /** The number of its call on this page; 0 for a claimed record, which is due at once. */
  order: number;
  /** The size of the body in bytes. */
  size: number;
}

export const createParcel = (key: ParcelKey): Parcel => ({
  key,
  state: 'new',
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
