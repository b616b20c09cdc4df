import type { StorageKind } from '../types.js';
import { openDatabase, type Admit, type Database, type DatabaseEffects } from './database.js';
import { commit, type Work } from './transaction.js';

/** The database of one destination: opened once storage may be used, and closed when it may not be any more. */
export const createJournal = (effects: Omit<DatabaseEffects, 'admit'>) => {
  let database: Database | undefined;

  /** Lets go of the database, and returns it. */
  const detach = (): Database | undefined => {
    const last = database;
    database = undefined;
    return last;
  };

  return {
    /** Storage may be used. */
    open: (admit?: Admit): void => {
      database = openDatabase({ ...effects, admit });
    },
    /** `none` while storage may not be used. */
    kind: (): StorageKind => database?.kind() ?? 'none',
    /** Settles once it is known whether there is a database. */
    opened: (): Promise<void> | undefined => database?.opened,
    /** Runs work in one transaction and settles with its end. */
    run: <T>(work: Work<T>): Promise<T> =>
      database?.run(work) ?? Promise.reject(new Error('no storage')),
    /** Nothing may be stored any more. Work that has not begun never will. */
    close: (): void => detach()?.close(),
    /** Closes it once the writes before this one are done: transactions run in order. */
    release: (): void => {
      const last = detach();
      last
        ?.run<undefined>(commit)
        .catch(() => undefined)
        .finally(last.close);
    },
    leave: (): void => database?.leave(),
    comeBack: (): void => database?.comeBack(),
    /** The page is left, and has not come back. */
    isLeft: (): boolean => !!database?.isLeft(),
  };
};

export type Journal = ReturnType<typeof createJournal>;
