import { createStore } from 'idb-keyval';
import { messageOf } from '../../interface/errors.js';
import type { StorageKind } from '../types.js';
import { commit, runTransaction, type Work } from './transaction.js';

/** One more try to open it, this long after a failure. */
const REOPEN_MS = 5_000;

/** Looks into the database before anything else is done there, and calls `then` if it may be used. */
export type Admit = (store: IDBObjectStore, then: () => void) => void;

export interface DatabaseEffects {
  name: string;
  /** The kind of storage changed. */
  onChange: (storage: StorageKind, message: string) => void;
  admit?: Admit | undefined;
}

const open = (name: string) => createStore(name, 'records');

/**
 * One IndexedDB database, opened at once and used through small transactions. When it is missing, hangs,
 * is full or is closed under us, work is refused at once, so that nothing waits for it.
 */
export const openDatabase = ({ name, onChange, admit }: DatabaseEffects) => {
  let use = open(name);
  let isAdmitted = !admit;
  let setOpened: () => void;
  const opened = new Promise<void>((resolve) => (setOpened = resolve));
  let kind: StorageKind = 'opening';
  let reopened = false;
  let isClosed = false;
  let isLeft = false;
  let connection: IDBDatabase | undefined;
  /** What breaks off each transaction that has begun. */
  const running = new Map<IDBTransaction, () => void>();

  const become = (next: StorageKind, message = '') => {
    if (next === kind || isClosed) return;
    kind = next;
    onChange(kind, message);
    setOpened();
  };

  const fail = (error: unknown) => {
    become('memory', messageOf(error));
    if (reopened) return;
    reopened = true;
    setTimeout(() => {
      if (isClosed) return;
      use = open(name);
      attempt(commit).catch(() => undefined); // stays in memory; `fail` has said so
    }, REOPEN_MS);
  };

  /** The next transaction opens it anew. */
  const follow = (database: IDBDatabase) => {
    const lose = () => {
      if (kind === 'indexeddb') become('opening');
    };
    database.addEventListener('close', lose);
    // Our version never changes, so the site is deleting the database. That waits until this connection is closed.
    database.addEventListener('versionchange', () => {
      database.close();
      use = open(name);
      lose();
    });
  };

  const onBegin = (transaction: IDBTransaction, breakOff: () => void) => {
    if (isClosed) {
      transaction.db.close();
      throw new Error('closed');
    }
    if (connection !== transaction.db) follow((connection = transaction.db));
    running.set(transaction, breakOff);
  };

  const attempt = async <T>(work: Work<T>): Promise<T> => {
    const admitted: Work<T> = (store, done) => {
      const begin = () => {
        isAdmitted = true;
        work(store, done);
      };
      if (isAdmitted) begin();
      else admit!(store, begin);
      if (isLeft) running.get(store.transaction)!();
    };
    const onEnd = (transaction: IDBTransaction) => running.delete(transaction);
    const result = await runTransaction(admitted, { use, onBegin, onEnd, onFail: fail });
    if (isClosed) throw new Error('closed');
    become('indexeddb');
    return result;
  };

  const breakOffAll = () => running.forEach((breakOff) => breakOff());

  return {
    kind: (): StorageKind => kind,
    /** Settles once it is known whether there is a database. */
    opened,
    /** Nothing may be stored any more. Work that has not begun never will; nobody is told how work that has begun ends. */
    close: (): void => {
      kind = 'memory';
      isClosed = true;
      breakOffAll();
      connection?.close();
      setOpened();
    },
    /**
     * The page is left. A transaction that has yet to read waits for it, which may stand still from now on: in
     * WebKit, all other pages would wait as long. Until it is back, only what reads nothing is done.
     */
    leave: (): void => {
      isLeft = true;
      breakOffAll();
    },
    comeBack: (): void => {
      isLeft = false;
    },
    isLeft: (): boolean => isLeft,
    /** Runs work in one transaction and settles with its end. */
    run: <T>(work: Work<T>): Promise<T> =>
      kind === 'memory' ? Promise.reject(new Error('no storage')) : attempt(work),
  };
};

export type Database = ReturnType<typeof openDatabase>;
