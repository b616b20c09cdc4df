import { ahead } from '../../interface/backoff.js';
import { isLoading } from '../life.js';
import type { Settings } from '../options.js';
import { newId, sinceOpened } from '../page.js';
import type { DropReason, Emit, OutboxRecord } from '../types.js';
import type { Walk } from './claim.js';
import type { Database } from './database.js';
import { byAge, createEntry, createParcel, PARCEL_RECORDS } from './parcel.js';
import type { Entry, Parcel } from './parcel.js';

/**
 * A page that lives keeps what it has for this long, and renews that before half of it has passed. After a kill, the
 * next visit may claim it when this time is over.
 */
export const LEASE_MS = 60_000;
/** The lease of a page that has not loaded: WebKit may end it without a word, and the next page has to wait this long. */
const LOADING_LEASE_MS = 20_000;
/** No request is started under a lease that ends sooner. */
const MARGIN_MS = 10_000;
/** A stored record cannot be as old as this: then its time is wrong. */
const YEAR_MS = 31_536_000_000;

/**
 * The durable queue of one destination: a copy in memory of all that this page holds, which is nobody else's until its
 * lease is over.
 */
export interface Outbox {
  /** Begins the names of all that is stored for the destination. */
  name: string;
  settings: () => Settings;
  /** The client's clock: milliseconds since the epoch. */
  now: () => number;
  emit: Emit;
  /** Tells of a dropped call or record. The message says more than the reason, if there is more to say. */
  drop: (reason: DropReason, record?: OutboxRecord, message?: string) => void;
  /** Called when a new life begins: what was under way is forgotten. */
  onRestart: () => void;
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
  /** The timer of a write that waits a moment, so that others join it. */
  timer?: number | undefined;
  /** Settles when what has changed is written. */
  writing?: Promise<void> | undefined;
  /** When the page looks again for what dead lives have left. */
  lookAt: number;
  /** The walk that goes on with the next claim, if any. */
  walk?: Walk | undefined;
  /** The last walk of this life that has seen everything. Until then own records of a user wait: older ones may be stored. */
  seen?: Walk | undefined;
  isClaiming?: boolean;
}

/** A lease as the database has it. Keys of leases come after those of all parcels. */
export interface StoredLease {
  life: string;
  until: number;
}

export const startWalk = (outbox: Outbox): void => {
  outbox.walk = { taken: new Set(), elsewhere: 0, soonest: Infinity };
};

/** What the outbox is told of its destination. */
type Parts = Pick<Outbox, 'name' | 'settings' | 'now' | 'emit' | 'drop' | 'onRestart'>;

export const createOutbox = (parts: Parts): Outbox => {
  const life = newId();
  const outbox = {
    ...parts,
    maker: life,
    life,
    until: 0,
    parcels: new Set<Parcel>(),
    dirty: new Set<Parcel>(),
    count: 0,
    bytes: 0,
    order: 0,
    lookAt: 0,
  };
  startWalk(outbox);
  return outbox;
};

/** Whether the database has failed, so that what is held is in memory and in the exit note. */
export const isMemory = ({ database }: Outbox): boolean => database?.kind() === 'memory';

/**
 * When a lease ends; 0 if it is over. A lease that ends later than any can was made before the clock was set back, and
 * is over, too.
 */
export const leaseEnd = ({ now }: Outbox, until: number): number =>
  ahead(until, now(), 2 * LEASE_MS);

/** Until when a page holds what it stores now. */
export const nextEnd = ({ now }: Outbox): number =>
  now() + (isLoading() ? LOADING_LEASE_MS : LEASE_MS);

/** Whether the lease lasts for longer than a request mostly takes. */
export const isLeased = (outbox: Outbox): boolean =>
  leaseEnd(outbox, outbox.until) - outbox.now() > MARGIN_MS;

/**
 * Puts the lease anew, with every write: the site may have cleared its storage. A page that has nothing left, in memory or in
 * the database, gives it up.
 */
export const updateLease = (store: IDBObjectStore, outbox: Outbox): void => {
  const { life, count, dirty, isClaiming } = outbox;
  const key = ['lease', life];
  outbox.until = 0;
  if (count || dirty.size || isClaiming) {
    outbox.until = nextEnd(outbox);
    store.put({ life, until: outbox.until } satisfies StoredLease, key);
  } else store.delete(key);
};

export function* entriesOf({ parcels }: Outbox): Generator<Entry, undefined> {
  for (const parcel of parcels) yield* parcel.entries;
}

const tally = (outbox: Outbox, one: 1 | -1, { bytes }: Entry) => {
  outbox.count += one;
  outbox.bytes += one * bytes;
};

const addEntry = (outbox: Outbox, entry: Entry) => {
  entry.parcel.entries.add(entry);
  tally(outbox, 1, entry);
};

/** Adds the record of a call. The records of one task share a parcel. */
export const addRecord = (outbox: Outbox, record: OutboxRecord): Parcel => {
  const { open, parcels, maker } = outbox;
  const order = ++outbox.order;
  let parcel = open;
  if (!parcel || parcel.entries.size >= PARCEL_RECORDS) {
    outbox.open = parcel = createParcel([record.at, maker, order], 'no');
    parcels.add(parcel);
    queueMicrotask(() => (outbox.open = undefined));
  }
  addEntry(outbox, createEntry(record, parcel, order));
  return parcel;
};

/**
 * How old a stored record is. The clock may be wrong now, or may have been at the call: what this page has made is not
 * older than the page, and an age of years only means that the clock was put right.
 */
const ageOf = ({ now, maker }: Outbox, { at }: OutboxRecord, { key }: Parcel): number => {
  const age = now() - at;
  return age < YEAR_MS ? Math.min(age, key[1] === maker ? sinceOpened() : age) : 0;
};

/** Adds a parcel that was claimed, in the order of their age. */
export const addParcel = (
  outbox: Outbox,
  parcel: Parcel,
  records: readonly OutboxRecord[],
): void => {
  for (const record of records)
    addEntry(outbox, createEntry(record, parcel, 0, ageOf(outbox, record, parcel)));
  outbox.parcels = new Set([...outbox.parcels, parcel].sort(byAge));
};

/** Removes a record that has come to its end. */
export const removeEntry = (outbox: Outbox, entry: Entry): void => {
  const { entries } = entry.parcel;
  if (entries.delete(entry) && outbox.parcels.has(entry.parcel)) tally(outbox, -1, entry);
};

/** Forgets a parcel: it is stored for whoever comes next, or has no records any more. */
export const forgetParcel = (outbox: Outbox, parcel: Parcel): void => {
  for (const entry of parcel.entries) tally(outbox, -1, entry);
  outbox.parcels.delete(parcel);
  outbox.dirty.delete(parcel);
  outbox.open = undefined;
};

/** Begins a new life: forgets all but the parcels that nobody else has, and claims like any other page. */
export const restart = (outbox: Outbox, isKept: (parcel: Parcel) => boolean): void => {
  for (const parcel of outbox.parcels) {
    if (isKept(parcel)) outbox.dirty.add(parcel);
    else forgetParcel(outbox, parcel);
  }
  outbox.life = newId();
  outbox.until = 0;
  outbox.noted = undefined;
  outbox.seen = undefined;
  startWalk(outbox);
  outbox.onRestart();
};

/** Begins a new life if the page's lease is over, as after a standstill: others may have what it has stored. */
export const checkLease = (outbox: Outbox): void => {
  const { until, noted } = outbox;
  if (!until || leaseEnd(outbox, until)) return;
  restart(outbox, (parcel) => parcel.stored !== 'yes' && !(isMemory(outbox) && noted?.has(parcel)));
};
