import { flightOf, holdMs, isOver, type Context } from './context.js';
import type { Ends } from './ends.js';
import { commit } from './transaction.js';
import type { Parcel } from './parcel.js';
import { moveParcel } from './states.js';
import { putStored, storedOf, type Stored } from './stored.js';

interface Write {
  parcel: Parcel;
  /** What is to stand under its key; nothing once all its records have come to their end. */
  value: Omit<Stored, 'v' | 'until'> | undefined;
  /** Those of its records that the database need not be told of any more once this is stored. */
  done: string[];
}

/** Writes parcels as they stand in memory now, in one transaction. False where the database fails. */
export const putParcels = async (
  context: Context,
  parcels: readonly Parcel[],
  { part, letGo }: Pick<Ends, 'part' | 'letGo'>,
  /** The page goes: it lets the parcels go as it writes them. */
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
   * Looked at as the transaction begins: the page may have stood still since. What has come to its end whole is
   * deleted, whoever holds it by now.
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
