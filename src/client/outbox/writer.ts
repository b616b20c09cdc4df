import { isHidden } from '../life.js';
import { later } from '../later.js';
import { nextEnd, putLease } from './lease.js';
import { removeNote, writeNote } from './note.js';
import { putParcel, storedOf, type Parcel } from './parcel.js';
import { checkLease, forgetParcel, isBroken, type Store } from './store.js';

/** The parcels of which the database may not have the latest form. */
export const unconfirmed = ({ parcels, dirty }: Store): Parcel[] =>
  [...parcels].filter((parcel) => parcel.writes || dirty.has(parcel));

/**
 * Brings the exit note up to date, or removes it if it is not needed any more. Without a database, a hidden page notes
 * all that it holds.
 */
export const updateNote = (store: Store): void => {
  const { noted } = store;
  const isStore = isBroken(store);
  if (!noted && !isStore) return;
  const parcels = unconfirmed(store).filter(
    ({ stored }) => !isStore || isHidden() || stored !== 'no',
  );
  if (parcels.length) store.noted = writeNote(store, parcels);
  else if (noted) {
    removeNote(store.name, store.life);
    store.noted = undefined;
  }
};

/** Writes these parcels and the lease in one transaction. What was not committed is written with the next change. */
export const write = async (store: Store, parcels: readonly Parcel[]): Promise<void> => {
  const { life, dirty } = store;
  let isDone = false;
  let isOpen: boolean | undefined;
  const fresh = new Set();
  for (const parcel of parcels) {
    dirty.delete(parcel);
    parcel.writes++;
  }
  try {
    await store.database!.run((opened) => {
      checkLease(store);
      if (life !== store.life || !store.database) return;
      // With every write, since the site may have cleared its storage. A page that holds nothing needs no lease.
      const holds = store.count || dirty.size || store.isClaiming;
      putLease(opened, life, (store.until = holds ? nextEnd() : 0));
      for (const parcel of parcels) {
        if (parcel.stored === 'no') {
          parcel.stored = 'perhaps';
          fresh.add(parcel);
        }
        putParcel(opened, parcel.key, storedOf(parcel, life));
      }
    });
    isDone = true;
  } catch (error) {
    // `onChange` of the database has told why.
    ({ isOpen } = error as { isOpen?: boolean });
  }
  for (const parcel of parcels) {
    parcel.writes--;
    if (life !== store.life || !store.parcels.has(parcel)) continue;
    if (isDone) {
      parcel.stored = 'yes';
      // While another write of the parcel is under way, it stays: if the page is left, the note has to list it.
      if (!(parcel.entries.size || parcel.writes || dirty.has(parcel))) forgetParcel(store, parcel);
    } else {
      if (fresh.has(parcel) && !parcel.writes && !isOpen) parcel.stored = 'no'; // the transaction was undone
      dirty.add(parcel);
    }
  }
  updateNote(store);
};

/** Writes what has changed, one transaction after the other. */
export const writeChanges = (store: Store): Promise<void> => {
  clearTimeout(store.timer);
  store.timer = undefined;
  store.isDue = true;
  return (store.writing ??= (async () => {
    await undefined; // the rest of the task may change more
    while (store.isDue && store.dirty.size && store.database && !isBroken(store)) {
      store.isDue = false; // a record that ends meanwhile waits for its moment
      await write(store, [...store.dirty]);
    }
    updateNote(store);
    store.writing = undefined;
  })());
};

/**
 * Writes a parcel that has changed: at the end of the task, or this much later, so that later changes join it. A hidden
 * page never waits: its timers are late, and the system may end it at any time.
 */
export const save = (store: Store, parcel: Parcel, waitMs = 0): void => {
  if (!store.parcels.has(parcel)) return;
  if (!parcel.entries.size && parcel.stored === 'no') forgetParcel(store, parcel);
  else store.dirty.add(parcel);
  if (waitMs && !isHidden()) store.timer ??= later(() => writeChanges(store), waitMs);
  else void writeChanges(store);
};

/** Renews the lease, or the note where there is no database, if the page holds anything. */
export const renewLease = (store: Store): void => {
  if (store.count) void write(store, []);
};

/**
 * Stores what is not confirmed in the exit note, and in the database beside a transaction that is under way: a hidden
 * page may have no later moment.
 */
export const storeNow = (store: Store): void => {
  const changed = unconfirmed(store);
  if (changed.length) store.noted = writeNote(store, changed);
  if (store.dirty.size && !isBroken(store)) void write(store, [...store.dirty]);
};

/** Writes these parcels as they are now, and deletes the lease: the page is left. */
export const writeLast = (store: Store, parcels: readonly Parcel[]): void => {
  const { life } = store;
  const values = parcels.map(
    (parcel) => [parcel.key, { ...storedOf(parcel, ''), isNoted: true }] as const,
  );
  const put = (opened: IDBObjectStore) => {
    for (const value of values) putParcel(opened, ...value);
    putLease(opened, life, 0);
  };
  void store.database!.run(put).catch(() => updateNote(store)); // the note has the same
};
