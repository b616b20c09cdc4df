import { isHidden } from '../life.js';
import { forgetParcel, isMemory, putLease, type Held } from './held.js';
import { removeNote, writeNote } from './note.js';
import { putParcel, storedOf, type Parcel } from './parcel.js';

/** Ends of records are written together with those that come within this time. */
const TOGETHER_MS = 50;

/** The parcels whose latest form may not be stored. */
export const unconfirmed = ({ parcels, dirty }: Held): Parcel[] =>
  [...parcels].filter((parcel) => parcel.writes || dirty.has(parcel));

/** Writes parcels that have changed to the database, and keeps the exit note up to date. */
export const createWriter = (
  name: string,
  held: Held,
  /** Begins a new life if the lease is over. */
  checkLease: () => void,
) => {
  const { dirty } = held;
  let working: Promise<void> | undefined;

  /** Without a database, the note has all that a hidden page holds, and is its lease. */
  const renote = () => {
    const { noted } = held;
    const parcels = isMemory(held)
      ? [...dirty].filter(({ stored }) => isHidden() || stored !== 'no')
      : noted
        ? unconfirmed(held)
        : [];
    if (parcels.length || (noted && isMemory(held))) writeNote(name, held, parcels);
    else if (noted) {
      removeNote(name, held.life);
      held.noted = undefined;
    }
  };

  const transact = async (parcels: readonly Parcel[]): Promise<boolean> => {
    const { life } = held;
    let isDone = false;
    let isOpen: boolean | undefined;
    const fresh = new Set();
    for (const parcel of parcels) {
      dirty.delete(parcel);
      parcel.writes++;
    }
    try {
      await held.database!.run((store) => {
        checkLease();
        if (life !== held.life || !held.database) return;
        putLease(store, held);
        for (const parcel of parcels) {
          if (parcel.stored === 'no') {
            parcel.stored = 'perhaps';
            fresh.add(parcel);
          }
          putParcel(store, parcel.key, storedOf(parcel, life));
        }
      });
      isDone = true;
    } catch (error) {
      // `onChange` of the database has told why.
      ({ isOpen } = error as { isOpen?: boolean });
    }
    for (const parcel of parcels) {
      parcel.writes--;
      if (life !== held.life || !held.parcels.has(parcel)) continue;
      if (isDone) {
        parcel.stored = 'yes';
        if (!parcel.entries.size && !dirty.has(parcel)) forgetParcel(held, parcel);
      } else {
        if (fresh.has(parcel) && !parcel.writes && !isOpen) parcel.stored = 'no'; // it was broken off
        dirty.add(parcel);
      }
    }
    renote();
    return isDone;
  };

  /** Writes what has changed, one transaction after the other. */
  const flush = (): Promise<void> =>
    (working ??= Promise.resolve().then(async () => {
      let isWell = true;
      while (isWell && dirty.size && held.database && !isMemory(held))
        isWell = await transact([...dirty]);
      renote();
      working = undefined;
    }));

  return {
    renote,
    flush,
    /** Writes a parcel: at the end of the task, or together with what ends soon. */
    save: (parcel: Parcel, isUrgent = false): void => {
      if (!held.parcels.has(parcel)) return;
      if (!parcel.entries.size && parcel.stored === 'no') forgetParcel(held, parcel);
      else dirty.add(parcel);
      if (isUrgent) void flush();
      else setTimeout(flush, TOGETHER_MS);
    },
    /** Writes at once, beside a transaction that is under way: a hidden page may have no later moment. */
    writeNow: (): void => {
      if (dirty.size && !isMemory(held)) void transact([...dirty]);
    },
    /** Writes these parcels as they are now, and gives up the lease: the page is left. */
    writeLast: (parcels: readonly Parcel[]): void => {
      const { life } = held;
      const values = parcels.map(
        (parcel) => [parcel.key, { ...storedOf(parcel, ''), isNoted: true }] as const,
      );
      const write = (store: IDBObjectStore) => {
        for (const value of values) putParcel(store, ...value);
        store.delete(['lease', life]);
      };
      void held.database!.run(write).catch(renote); // the note has the same
    },
  };
};
