import type { Notes } from './exit-note.js';
import type { Journal } from './journal.js';
import { read } from './stored.js';
import { commit } from './transaction.js';

/**
 * A denial of consent is stored under this key. localStorage has it, too, but takes nothing while it is full.
 */
const KEY = 'consent';

export const getDenial = (store: IDBObjectStore, then: (isDenied: boolean) => void): void => {
  read(store.get(KEY), (value: unknown) => then(value === 'denied'));
};

/** Runs work that reads nothing in a transaction, so that it is done even if the page leaves at once. */
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

/** Removes a denial from the database: consent was given. False if that failed. */
export const forgetDenial = (journal: Journal): Promise<boolean> =>
  change(journal, (store) => {
    store.delete(KEY);
  });

/** Deletes all that this page and others have stored or noted, and stores a denial, if any. False if that failed. */
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
