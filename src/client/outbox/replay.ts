import { isClaimable, type Context } from './context.js';
import { isReadable, putStored, read, type Stored } from './stored.js';

/**
 * Applies the exit notes to the parcels that anybody may take now, before whatever the transaction does next.
 * Returns the holders of the notes. When the transaction is done, only those are left whose note was applied whole.
 */
export const replay = (
  context: Context,
  store: IDBObjectStore,
  began: number,
): ReadonlySet<string> => {
  const notes = context.notes.all();
  const replayed = new Set(notes.map(({ holder }) => holder));
  for (const { holder, until: notedUntil, parcels } of notes) {
    for (const { key, flight, done, records } of parcels) {
      read(store.get(key) as IDBRequest<Partial<Stored> | undefined>, (stored) => {
        const isThere = isReadable(stored);
        const until = notedUntil && isThere ? stored.until : notedUntil;
        if (!isClaimable(context, until, began)) return void replayed.delete(holder);
        // A page that lived on after its note may have stored something newer.
        const isLatest = notedUntil === 0 || (until > 0 && until <= notedUntil);
        // What another version has stored is not overwritten: the claim reports it.
        const isTheirs = isThere ? stored.holder === holder : !stored;
        if (!isLatest || !isTheirs) return;
        const left = (isThere ? stored.records : records).filter(({ id }) => !done.includes(id));
        putStored(store, key, { holder, until: 0, flight, records: left, isNoted: true });
      });
    }
  }
  return replayed;
};
