import { ahead } from '../../interface/backoff.js';
import { isLoading } from '../life.js';
import { now } from '../page.js';

/**
 * A page that lives keeps its parcels for this long, and renews that before half of it has passed. After a kill, the
 * next visit may claim them when this time is over.
 */
export const LEASE_MS = 60_000;
/** WebKit may end a page that has not loaded without a word. Its lease is short, since the next page waits for its end. */
const LOADING_LEASE_MS = 20_000;

/** A lease as the database has it. Keys of leases come after those of all parcels. */
export interface StoredLease {
  life: string;
  until: number;
}

/**
 * When a lease ends; 0 if it is over. A lease that ends later than any can was made before the clock was set back, and
 * is over, too.
 */
export const leaseEnd = (until: number): number => ahead(until, now(), 2 * LEASE_MS);

/** When a lease ends that is made now. */
export const nextEnd = (): number => now() + (isLoading() ? LOADING_LEASE_MS : LEASE_MS);

/** Stores when the lease of a life ends; 0 deletes the lease. */
export const putLease = (store: IDBObjectStore, life: string, until: number): void => {
  const key = ['lease', life];
  if (until) store.put({ life, until } satisfies StoredLease, key);
  else store.delete(key);
};
