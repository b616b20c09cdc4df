import { isClaimable, type Context } from './context.js';
import { isReadable, putStored, read, type Stored } from './stored.js';

/**
 * Puts into the database what exit notes say of parcels that are anybody's now, before whatever the transaction
 * does next. Answers with the holders of the notes: once the transaction is done, of those that were put whole.
 */
export const replay = (
  context: Context,
  store: IDBObjectStore,
  began: number,
): ReadonlySet<string> => {
  const notes = context.notes.all();
  const replayed = new Set(notes.map(({ holder }) => holder));
  for (const { holder, until: noted, parcels } of notes) {
    for (const { key, flight, done, records } of parcels) {
      read(store.get(key) as IDBRequest<Partial<Stored> | undefined>, (stored) => {
        const isThere = isReadable(stored);
        const until = noted && isThere ? stored.until : noted;
        if (!isClaimable(context, until, began)) return void replayed.delete(holder);
        // Where the page lived on after its note, what it has stored since is newer.
        const isLatest = noted === 0 || (until > 0 && until <= noted);
        const isTheirs = !isThere || stored.holder === holder;
        if (!isLatest || !isTheirs) return;
        const left = (isThere ? stored.records : records).filter(({ id }) => !done.includes(id));
        putStored(store, key, { holder, until: 0, flight, records: left, isNoted: true });
      });
    }
  }
  return replayed;
};
