import type { StorageKind } from '../types.js';
import { openDatabase, type Admit, type Database, type DatabaseEffects } from './database.js';
import { commit, type Work } from './transaction.js';

/** The database of one destination, for as long as storage may be used. */
export const createJournal = (effects: Omit<DatabaseEffects, 'admit'>) => {
  let database: Database | undefined;

  /** Nothing is asked of it any more. */
  const leaveOff = (): Database | undefined => {
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
    /** Nothing may be stored any more: what has not begun by now never will. */
    close: (): void => leaveOff()?.close(),
    /** The same once all that is being written stands there: transactions run in order. */
    release: (): void => {
      const last = leaveOff();
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
