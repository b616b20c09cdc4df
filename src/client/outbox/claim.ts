import { promisifyRequest as settled } from 'idb-keyval';
import { leaseEnd, nextEnd, putLease, type StoredLease } from './lease.js';
import { byteLength } from '../page.js';
import { readNotes, type Note, type NotedParcel } from './note.js';
import { isReadable, type ParcelKey, type StoredParcel } from './parcel.js';
import type { Outbox } from './outbox.js';

/** A claim reads at most so many parcels. */
export const WINDOW_PARCELS = 20;
/** While the gate is closed, it reads more: it writes hardly any. */
const LOOK_PARCELS = 200;

/** Records and bytes beyond the limits. */
export type Excess = [records: number, bytes: number];

/** A scan of all stored parcels, claim by claim, oldest first, and what it found of other lives. */
export interface Scan {
  /** The key behind which the next claim begins; nothing before the first claim, and after the last one. */
  after?: ParcelKey | undefined;
  /**
   * By maker, the number of its last parcel with an identify that another life holds. Later parcels of that maker wait
   * for it, so that the records of a user keep their order.
   */
  taken: Map<string, number>;
  /** Records that other lives hold, or that were left unclaimed while the gate was closed, and the bytes of their bodies. */
  elsewhere: number;
  bytes: number;
  /** The earliest end of another life's lease. */
  soonest: number;
  /** What the scan before has counted while the gate was closed; this one drops so much. */
  excess?: Excess | undefined;
}

/** What one transaction has claimed, and what it has seen of others. */
export interface Claimed {
  parcels: NotedParcel[];
  /** Lives whose notes are applied. */
  noted: string[];
  /** The gate is closed, so parcels were left unclaimed. */
  hasLeft?: boolean;
  /** When the lease ends under which the parcels are claimed. */
  until: number;
}

/** Puts the parcels of a dead life's note into the database, where they still count. */
const putNoted = async (store: IDBObjectStore, { life, list }: Note): Promise<void> => {
  for (const { key, stored, ...parcel } of list) {
    const found = (await settled(store.get(key))) as StoredParcel | undefined;
    // Another life may have claimed the parcel since: then the database is right. If the parcel was stored and is gone,
    // all of its records have ended.
    if (found ? found.life === life : stored !== 'yes') {
      store.put({ ...parcel, life, isNoted: true } satisfies StoredParcel, key);
    }
  }
};

/**
 * Claims what it may among the next parcels: those of lives that have no lease. All in one transaction, so that no
 * other page can claim the same. If it only `counts`, it claims nothing: while the gate is closed, each page of the site
 * would write anew all that waits, and could not send it.
 */
export const claimParcels = async (
  store: IDBObjectStore,
  { name, life: own, emit }: Pick<Outbox, 'name' | 'life' | 'emit'>,
  scan: Scan,
  counts?: boolean,
): Promise<Claimed> => {
  const most = counts ? LOOK_PARCELS : WINDOW_PARCELS;
  const claimed: Claimed = { parcels: [], noted: [], until: nextEnd() };
  const range = IDBKeyRange.bound(scan.after ?? [], ['lease'], true);
  const leases = (await settled(store.getAll(IDBKeyRange.lowerBound(['lease'])))) as StoredLease[];
  // After that read, which may have waited for the write of a page that has left its note meanwhile.
  const notes = readNotes(name).filter(({ life }) => life !== own);
  /** Lives of other pages, each with the end of its lease; 0 if that is over. */
  const lives = new Map<string, number>();
  for (const { life, until } of leases) lives.set(life, leaseEnd(until));
  // A page that has gone says so in its note, even where its lease could not be deleted any more.
  for (const { life, until } of notes)
    lives.set(life, until && Math.max(leaseEnd(until), lives.get(life) ?? 0));
  lives.delete(own);
  for (const [life, until] of lives) {
    if (until) scan.soonest = Math.min(scan.soonest, until);
    else putLease(store, life, 0);
  }
  for (const note of notes) {
    if (lives.get(note.life)) continue;
    await putNoted(store, note);
    claimed.noted.push(note.life);
  }

  const keys = (await settled(store.getAllKeys(range, most))) as ParcelKey[];
  const values = (await settled(store.getAll(range, most))) as StoredParcel[];
  keys.forEach((key, i) => {
    const value = values[i]!;
    const [, maker, number] = key;
    if (!isReadable(value)) {
      store.delete(key); // another version has stored it
      return emit('drop', { reason: 'unreadable', message: 'unreadable' });
    }
    if (value.life === own) return;
    const isFree = !lives.get(value.life) && !(scan.taken.get(maker)! < number);
    if (isFree && !value.records.length) {
      if (!notes.length) store.delete(key); // while there are notes, one of them may still hold this parcel
    } else if (isFree && !counts) {
      store.put({ ...value, life: own }, key);
      claimed.parcels.push({ ...value, key, stored: 'yes' });
    } else {
      for (const { type, body } of value.records) {
        if (type === 'identify') scan.taken.set(maker, number);
        scan.elsewhere++;
        scan.bytes += byteLength(body);
      }
      claimed.hasLeft ||= isFree;
    }
  });
  if (claimed.parcels.length) putLease(store, own, claimed.until);
  scan.after = keys[most - 1];
  return claimed;
};
