import type { Notes } from './exit-note.js';
import type { Journal } from './journal.js';
import { read } from './stored.js';
import { commit } from './transaction.js';

/**
 * Where a denial stands in the database, before all parcels. localStorage has it too, but takes nothing while
 * it is full.
 */
const KEY = 'consent';

export const getDenial = (store: IDBObjectStore, then: (isDenied: boolean) => void): void => {
  read(store.get(KEY), (value: unknown) => then(value === 'denied'));
};

/** In a transaction of its own, which reads nothing, so that it is done though the page leaves at once. */
const change = (journal: Journal, work: (store: IDBObjectStore) => void): Promise<boolean> =>
  journal
    .run<undefined>((store) => {
      work(store);
      commit(store);
    })
    .then(
      () => true,
      () => false,
    );

/** Consent was given: a denial in the database counts no more. */
export const forgetDenial = (journal: Journal): Promise<boolean> =>
  change(journal, (store) => {
    store.delete(KEY);
  });

/** Deletes all that is stored or noted, by other pages too. A denial is stored instead. False where it failed. */
export const wipe = (
  { journal, notes }: { journal: Journal; notes: Notes },
  isDenied: boolean,
): Promise<boolean> => {
  for (const { holder } of notes.all()) notes.remove(holder);
  return change(journal, (store) => {
    store.clear();
    if (isDenied) store.put('denied', KEY);
  });
};
