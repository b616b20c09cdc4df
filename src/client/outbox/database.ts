import { createStore } from 'idb-keyval';
import { messageOf } from '../../interface/errors.js';
import type { StorageKind } from '../types.js';
import { commit, runTransaction, type Work } from './transaction.js';

/** A database that has failed is opened once more after this time. */
const REOPEN_MS = 5_000;

/** Reads in the first transaction before anything else does, and calls `then` if the database may be used. */
export type Admit = (store: IDBObjectStore, then: () => void) => void;

export interface DatabaseEffects {
  name: string;
  /** Called when the kind of storage changes. */
  onChange: (storage: StorageKind, message: string) => void;
  admit?: Admit | undefined;
}

const open = (name: string) => createStore(name, 'records');

/**
 * One IndexedDB database, opened at once and used through small transactions. If it is missing, hangs or is full,
 * work is refused at once, so that nothing waits for it. If the browser closes it, the next transaction opens it.
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
  /** The transactions that have begun, each with a function that breaks it off. */
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

  /** Notices when the connection is closed from outside. */
  const watch = (database: IDBDatabase) => {
    const lose = () => {
      if (kind === 'indexeddb') become('opening');
    };
    database.addEventListener('close', lose);
    // Our version never changes, so the site is deleting the database, and waits until this connection is closed.
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
    if (connection !== transaction.db) watch((connection = transaction.db));
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
    /** Closes it at once. Work that has not begun never will, and nobody is told how other work ends. */
    close: (): void => {
      kind = 'memory';
      isClosed = true;
      breakOffAll();
      connection?.close();
      setOpened();
    },
    /**
     * The page is left, and may be frozen from now on. In WebKit a transaction that has yet to read would wait with
     * it, and keep all other pages from the database. Until the page is back, only work that reads nothing is done.
     */
    leave: (): void => {
      isLeft = true;
      breakOffAll();
    },
    comeBack: (): void => {
      isLeft = false;
    },
    isLeft: (): boolean => isLeft,
    /** Runs work in one transaction, and settles when that ends. */
    run: <T>(work: Work<T>): Promise<T> =>
      kind === 'memory' ? Promise.reject(new Error('no storage')) : attempt(work),
  };
};

export type Database = ReturnType<typeof openDatabase>;
