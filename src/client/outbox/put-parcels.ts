import { flightOf, holdMs, isOver, type Context } from './context.js';
import type { Ends } from './ends.js';
import { commit } from './transaction.js';
import type { Parcel } from './parcel.js';
import { moveParcel } from './states.js';
import { putStored, storedOf, type Stored } from './stored.js';

interface Write {
  parcel: Parcel;
  /** The value to store; undefined to delete the parcel, once all its records have come to their end. */
  value: Omit<Stored, 'v' | 'until'> | undefined;
  /** The ids of ended records that the value no longer has. */
  done: string[];
}

/** Writes parcels as they are in memory now, in one transaction. False if the database fails. */
export const putParcels = async (
  context: Context,
  parcels: readonly Parcel[],
  { part, letGo }: Pick<Ends, 'part' | 'letGo'>,
  /** The page is left, and writes the parcels as held by nobody. */
  isLeaving: boolean,
): Promise<boolean> => {
  const { journal, now, holder } = context;
  let heldUntil = 0;

  const writes = parcels.map((parcel): Write => ({
    parcel,
    value:
      parcel.entries.size > 0 || parcel.isNoted
        ? storedOf(parcel, holder(), flightOf(context, parcel))
        : undefined,
    done: [...parcel.done],
  }));

  /**
   * Asked as the transaction begins, since the page may have been frozen before. A parcel whose records have all
   * come to their end is deleted, even if another page holds it by now.
   */
  const mayWrite = ({ parcel: { state, until }, value }: Write) =>
    isLeaving || (state !== 'gone' && !(value && state === 'stored' && isOver(context, until)));

  const put = (store: IDBObjectStore, { parcel, value }: Write) => {
    moveParcel(parcel, 'write');
    if (value) putStored(store, parcel.key, { ...value, until: heldUntil });
    else store.delete(parcel.key);
  };

  const conclude = ({ parcel, value, done }: Write) => {
    if (parcel.state === 'gone') return;
    moveParcel(parcel, 'confirm');
    parcel.until = heldUntil;
    for (const id of done) parcel.done.delete(id);
    if (!value?.records.length) part(parcel);
  };

  const work = (store: IDBObjectStore) => {
    if (!isLeaving) heldUntil = now() + holdMs(context);
    store.transaction.addEventListener('abort', () => {
      for (const parcel of parcels) moveParcel(parcel, 'abort');
    });
    for (const one of writes) {
      if (mayWrite(one)) put(store, one);
      else if (one.parcel.state !== 'gone') letGo(one.parcel);
    }
    commit(store);
  };

  try {
    await journal.run(work);
  } catch {
    return false;
  }
  writes.forEach(conclude);
  return true;
};
