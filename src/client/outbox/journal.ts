import type { StorageKind } from '../types.js';
import { openDatabase, type Admit, type Database, type DatabaseEffects } from './database.js';
import { commit, type Work } from './transaction.js';

/** The database of one destination. It is open while storage may be used. */
export const createJournal = (effects: Omit<DatabaseEffects, 'admit'>) => {
  let database: Database | undefined;

  return {
    open: (admit?: Admit): void => {
      database = openDatabase({ ...effects, admit });
    },
    /** `none` while storage may not be used. */
    kind: (): StorageKind => database?.kind() ?? 'none',
    /** Settles once it is known whether there is a database. */
    opened: (): Promise<void> | undefined => database?.opened,
    /** Runs work in one transaction, and settles when that ends. */
    run: <T>(work: Work<T>): Promise<T> =>
      database?.run(work) ?? Promise.reject(new Error('no storage')),
    /** Closes the database at once. Work that has not begun never will. */
    close: (): void => {
      database?.close();
      database = undefined;
    },
    /** Closes the database after the writes that are under way: transactions run in order. */
    closeAfterWrites: (): void => {
      const last = database;
      database = undefined;
      last
        ?.run<undefined>(commit)
        .catch(() => undefined)
        .finally(last.close);
    },
    leave: (): void => database?.leave(),
    comeBack: (): void => database?.comeBack(),
    /** Whether storage may be used, and the page is not left. */
    mayRead: (): boolean => !!database && !database.isLeft(),
  };
};

export type Journal = ReturnType<typeof createJournal>;
