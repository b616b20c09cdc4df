import { isHidden } from '../life.js';
import { later } from '../later.js';
import { removeNote, writeNote } from './note.js';
import { checkLease, forgetParcel, isMemory, updateLease, type Outbox } from './outbox.js';
import { putParcel, storedOf, type Parcel } from './parcel.js';

/** Ends of records are written together with those that come within this time. */
const TOGETHER_MS = 50;

/** The parcels whose latest form may not be stored. */
export const unconfirmed = ({ parcels, dirty }: Outbox): Parcel[] =>
  [...parcels].filter((parcel) => parcel.writes || dirty.has(parcel));

/** Keeps the exit note up to date. Without a database, it has all that a hidden page holds. */
export const renote = (outbox: Outbox): void => {
  const { noted } = outbox;
  const isStore = isMemory(outbox);
  if (!noted && !isStore) return;
  const parcels = unconfirmed(outbox).filter(
    ({ stored }) => !isStore || isHidden() || stored !== 'no',
  );
  if (parcels.length) writeNote(outbox, parcels);
  else if (noted) {
    removeNote(outbox, outbox.life);
    outbox.noted = undefined;
  }
};

/** Writes these parcels in one transaction. Resolves with whether it has ended well. */
export const write = async (outbox: Outbox, parcels: readonly Parcel[]): Promise<boolean> => {
  const { life, dirty } = outbox;
  let isDone = false;
  let isOpen: boolean | undefined;
  const fresh = new Set();
  for (const parcel of parcels) {
    dirty.delete(parcel);
    parcel.writes++;
  }
  try {
    await outbox.database!.run((store) => {
      checkLease(outbox);
      if (life !== outbox.life || !outbox.database) return;
      updateLease(store, outbox);
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
    if (life !== outbox.life || !outbox.parcels.has(parcel)) continue;
    if (isDone) {
      parcel.stored = 'yes';
      if (!parcel.entries.size && !dirty.has(parcel)) forgetParcel(outbox, parcel);
    } else {
      if (fresh.has(parcel) && !parcel.writes && !isOpen) parcel.stored = 'no'; // it was broken off
      dirty.add(parcel);
    }
  }
  renote(outbox);
  return isDone;
};

/** Writes what has changed, one transaction after the other. */
export const flush = (outbox: Outbox): Promise<void> =>
  (outbox.writing ??= (async () => {
    await undefined; // the rest of the task may have more to write
    let isWell = true;
    while (isWell && outbox.dirty.size && outbox.database && !isMemory(outbox))
      isWell = await write(outbox, [...outbox.dirty]);
    renote(outbox);
    outbox.writing = undefined;
  })());

/** Writes a parcel: at the end of the task, or together with others that end soon. */
export const save = (outbox: Outbox, parcel: Parcel, mayWait = false): void => {
  if (!outbox.parcels.has(parcel)) return;
  if (!parcel.entries.size && parcel.stored === 'no') forgetParcel(outbox, parcel);
  else outbox.dirty.add(parcel);
  if (!mayWait) void flush(outbox);
  else
    outbox.timer ??= later(() => {
      outbox.timer = undefined;
      void flush(outbox);
    }, TOGETHER_MS);
};

/** Writes at once, beside a transaction that is under way: a hidden page may have no later moment. */
export const writeNow = (outbox: Outbox): void => {
  if (outbox.dirty.size && !isMemory(outbox)) void write(outbox, [...outbox.dirty]);
};

/** Writes these parcels as they are now, and gives up the lease: the page is left. */
export const writeLast = (outbox: Outbox, parcels: readonly Parcel[]): void => {
  const { life } = outbox;
  const values = parcels.map(
    (parcel) => [parcel.key, { ...storedOf(parcel, ''), isNoted: true }] as const,
  );
  const put = (store: IDBObjectStore) => {
    for (const value of values) putParcel(store, ...value);
    store.delete(['lease', life]);
  };
  void outbox.database!.run(put).catch(() => renote(outbox)); // the note has the same
};
