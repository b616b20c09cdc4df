import { byteLength } from '../record/byte-length.js';
import type { OutboxRecord } from '../types.js';

/** An owner whose records this page may send. */
export interface Hold {
  owner: string;
  /** Who holds it, as leases name it: another one after each adoption, by the same page too. */
  holder: string;
  /** End of the lease, milliseconds since the epoch; 0 while there is none. */
  until: number;
  /** Time of its first record: older owners go first. */
  since: number;
  /** True for the records made by this page, false for adopted ones. */
  own: boolean;
  /** The lease stands in IndexedDB. */
  leased: boolean;
  /** Sequence number of the next record made here, or the last one read of an adopted owner. */
  seq: number;
  /** More of it may be stored than has been read. */
  more: boolean;
  /** Live records in memory. */
  count: number;
  /** Bytes of their bodies. */
  bytes: number;
  /** Sequence numbers in flight. */
  flight: Set<number>;
  /** Was in flight when its last page went away, and has not been read yet. */
  unread: Set<number>;
  /** Done with, or taken over by a page that could not read it, and not read yet. */
  taken: Set<number>;
  /** Its last page never released it, and may come back and look (a frozen tab). */
  expired: boolean;
  /** This page has given it up. */
  lost: boolean;
  /** By leaving: what waited is noted. */
  left: boolean;
  /** Number of the exit note of it that stands on the shelf; 0 for none. */
  noted: number;
}

/** Records that stand in the journal as one value: a `put` each would cost about as much as the request. */
export interface Chunk {
  /** Sequence number of its first record, by which it is stored. */
  first: number;
  /** Its records that are not done with. */
  alive: Set<Entry>;
}

/** A record in this page's care. */
export interface Entry {
  record: OutboxRecord;
  hold: Hold;
  seq: number;
  /** Missing until it is to be written. */
  chunk: Chunk | undefined;
  /** Place among the calls made here; 0 for what was taken over, which is due at once. */
  order: number;
  /** Bytes of the body. */
  size: number;
  state: 'waiting' | 'flight' | 'done';
  /** Not to be tried before this time. */
  dueAt: number;
  /** Failures in a row. */
  failures: number;
  /** It has failed while others passed: what it does says nothing of the destination any more. */
  isSuspect: boolean;
  /** Deliveries of others counted when it failed last. */
  mark: number | undefined;
  /** Whether it stands in the journal: `maybe` after a write that failed, or was too slow. */
  saved: 'no' | 'going' | 'maybe' | 'yes';
  /** It stands in an exit note. */
  noted: boolean;
}

export const createHold = (owner: string, since: number, own: boolean, holder = owner): Hold => ({
  owner,
  holder,
  until: 0,
  since,
  own,
  leased: false,
  seq: -1,
  more: !own,
  count: 0,
  bytes: 0,
  flight: new Set(),
  unread: new Set(),
  taken: new Set(),
  expired: false,
  lost: false,
  left: false,
  noted: 0,
});

/** What may be with the service. */
export const flightOf = ({ flight, unread }: Hold): number[] => [...flight, ...unread];

export const createChunk = (first: number): Chunk => ({ first, alive: new Set() });

export const joinChunk = (entry: Entry, chunk: Chunk): void => {
  entry.chunk?.alive.delete(entry);
  entry.chunk = chunk;
  chunk.alive.add(entry);
};

/** Nothing left to send, read or wait for. */
export const isDrained = ({ count, more, flight, unread }: Hold): boolean =>
  count === 0 && !more && flight.size === 0 && unread.size === 0;

export const createEntry = (record: OutboxRecord, hold: Hold, seq: number, order = 0): Entry => ({
  record,
  hold,
  seq,
  chunk: undefined,
  order,
  size: byteLength(record.body),
  state: 'waiting',
  dueAt: 0,
  failures: 0,
  isSuspect: false,
  mark: undefined,
  saved: 'no',
  noted: false,
});
