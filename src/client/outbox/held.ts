import { ahead } from '../../interface/backoff.js';
import { newId } from '../page.js';
import type { Database } from './database.js';
import type { OutboxRecord } from '../types.js';
import { byAge, createEntry, createParcel, TWENTY, type Entry, type Parcel } from './parcel.js';

/**
 * A page that lives keeps what it has for this long, and renews that before half of it has passed. After a kill, the
 * next visit may claim it when this time is over.
 */
export const LEASE_MS = 60_000;
/** No request is started under a lease that ends sooner. */
const MARGIN_MS = 10_000;

/** What a page holds: a copy in memory of its parcels, which are nobody else's until its lease is over. */
export interface Held {
  now: () => number;
  /** Nothing while storage may not be used. */
  database?: Database | undefined;
  /** The page's first life, by which its parcels are put in order. */
  maker: string;
  /** One stretch of the page's life, from its start or return until it is left or has stood still for too long. */
  life: string;
  /** The end of the lease; 0 if there is none yet. */
  until: number;
  /** Oldest first. */
  parcels: Set<Parcel>;
  /** Those that the database does not have in their latest form. */
  dirty: Set<Parcel>;
  /** Those that this life's exit note has; without a database, that is where they are stored. */
  noted?: Set<Parcel> | undefined;
  /** The parcel that the calls of this task go into. */
  open?: Parcel | undefined;
  /** Records, and bytes of their bodies. */
  count: number;
  bytes: number;
  /** The number of the last call. A parcel has the number of its first. */
  order: number;
}

/** A lease as the database has it. Keys of leases come after those of all parcels. */
export interface StoredLease {
  life: string;
  until: number;
}

export const createHeld = (now: () => number): Held => {
  const life = newId();
  return {
    now,
    maker: life,
    life,
    until: 0,
    parcels: new Set(),
    dirty: new Set(),
    count: 0,
    bytes: 0,
    order: 0,
  };
};

/** Whether the database has failed, so that what is held is in memory and in the exit note. */
export const isMemory = ({ database }: Held): boolean => database?.kind() === 'memory';

export const isOver = ({ now }: Held, until: number): boolean => !ahead(until, now());

/** Whether the lease lasts for longer than a request mostly takes. */
export const isLeased = ({ until, now }: Held): boolean => until - now() > MARGIN_MS;

/** Puts the lease, with every write: the site may have cleared its storage. */
export const putLease = (store: IDBObjectStore, held: Held): void => {
  const { life, now } = held;
  held.until = now() + LEASE_MS;
  store.put({ life, until: held.until } satisfies StoredLease, ['lease', life]);
};

export function* entriesOf({ parcels }: Held): Generator<Entry, undefined> {
  for (const parcel of parcels) yield* parcel.entries;
}

const tally = (held: Held, one: 1 | -1, { bytes }: Entry) => {
  held.count += one;
  held.bytes += one * bytes;
};

const keep = (held: Held, entry: Entry) => {
  entry.parcel.entries.add(entry);
  tally(held, 1, entry);
};

/** Adds the record of a call. The records of one task share a parcel. */
export const addRecord = (held: Held, record: OutboxRecord): Parcel => {
  const { open, parcels, maker } = held;
  const order = ++held.order;
  let parcel = open;
  if (!parcel || parcel.entries.size >= TWENTY || parcel.stored !== 'no') {
    held.open = parcel = createParcel([record.at, maker, order], 'no');
    parcels.add(parcel);
    queueMicrotask(() => (held.open = undefined));
  }
  keep(held, createEntry(record, parcel, order));
  return parcel;
};

/** Adds a parcel that was claimed, in the order of their age. */
export const addParcel = (held: Held, parcel: Parcel, records: readonly OutboxRecord[]): void => {
  for (const record of records) keep(held, createEntry(record, parcel, 0));
  held.parcels = new Set([...held.parcels, parcel].sort(byAge));
};

/** Removes a record that has come to its end. */
export const removeEntry = (held: Held, entry: Entry): void => {
  const { parcel } = entry;
  if (parcel.entries.delete(entry) && held.parcels.has(parcel)) tally(held, -1, entry);
};

/** Forgets a parcel: it is stored for whoever comes next, or has no records any more. */
export const forgetParcel = (held: Held, parcel: Parcel): void => {
  for (const entry of parcel.entries) tally(held, -1, entry);
  held.parcels.delete(parcel);
  held.dirty.delete(parcel);
  if (held.open === parcel) held.open = undefined;
};

/** Begins a new life, which holds only the parcels that nobody else has. */
export const restart = (held: Held, isKept: (parcel: Parcel) => boolean): void => {
  for (const parcel of held.parcels) {
    if (isKept(parcel)) held.dirty.add(parcel);
    else forgetParcel(held, parcel);
  }
  held.life = newId();
  held.until = 0;
  held.noted = undefined;
};
