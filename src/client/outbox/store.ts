import { newId, now } from '../page.js';
import type { Database } from './database.js';
import { leaseEnd } from './lease.js';
import { removeParcel, type Memory } from './memory.js';
import type { Parcel } from './parcel.js';

/** No request is started under a lease that ends sooner. */
const MARGIN_MS = 10_000;

/** The life under which this page holds its parcels. */
interface Life {
  /** One stretch of the page's life, from its start or return until it is left or has stood still for too long. */
  life: string;
  /** The end of the life's lease; 0 if it has none yet. */
  until: number;
  /** A claim is under way. Its parcels are held by the lease, although they are not in memory yet. */
  isClaiming?: boolean;
  /** Called when a new life begins: what was under way is forgotten. */
  onRestart: () => void;
}

/** What is still to be written, and when (`writer.ts`). */
interface Writes {
  /** Parcels that have changed since they were last written. */
  dirty: Set<Parcel>;
  /** Something has changed that must be written as soon as the transaction before it has ended. */
  isDue?: boolean;
  /** The timer of a write that waits a moment, so that later changes join it. */
  timer?: number | undefined;
  /** Settles when all changes are written. */
  writing?: Promise<void> | undefined;
}

/** What is stored of the parcels in memory, and for which life. */
export interface Store extends Memory, Life, Writes {
  /** Begins the names of all that is stored for the destination. */
  name: string;
  /** Missing while storage may not be used. */
  database?: Database | undefined;
  /** Parcels in the exit note of this life. Without a database, that note is where they are stored. */
  noted?: Set<Parcel> | undefined;
}

/** Whether the database has failed. The parcels are then in memory, and in the exit note of a page that is hidden. */
export const isBroken = ({ database }: Pick<Store, 'database'>): boolean =>
  database?.medium() === 'memory';

/** Whether no other page can claim the parcel before a request that starts now has ended. */
export const isSafe = (store: Store, parcel: Parcel): boolean => {
  const { parcels, until } = store;
  const isLeased = () => leaseEnd(until) - now() > MARGIN_MS;
  return parcels.has(parcel) && (parcel.stored !== 'yes' || isBroken(store) || isLeased());
};

/** Removes a parcel from memory, and writes it no more. */
export const forgetParcel = (store: Store, parcel: Parcel): void => {
  removeParcel(store, parcel);
  store.dirty.delete(parcel);
};

/** Begins a new life. It has only the parcels of the former one that no other page can have, and claims like any page. */
export const restart = (store: Store, isKept: (parcel: Parcel) => boolean): void => {
  for (const parcel of store.parcels) {
    if (isKept(parcel)) store.dirty.add(parcel);
    else forgetParcel(store, parcel);
  }
  store.life = newId();
  store.until = 0;
  store.noted = undefined;
  store.isDue = true;
  store.onRestart();
};

/** Begins a new life if the lease is over, as after a standstill: other pages may have claimed what is stored. */
export const checkLease = (store: Store): void => {
  const { until, noted } = store;
  if (!until || leaseEnd(until)) return;
  restart(store, (parcel) => parcel.stored !== 'yes' && !(isBroken(store) && noted?.has(parcel)));
};
