import { createStore, type UseStore } from 'idb-keyval';
import { messageOf } from '../../interface/errors.js';
import type { StorageKind } from '../types.js';

/** A database that has not answered for this long is treated as missing (WebKit's `open` can hang). */
export const WATCHDOG_MS = 1_000;
const GRACE_MS = 100;
/** One more try to open it, this long after a failure. */
const REOPEN_MS = 5_000;

type Work<T> = (store: IDBObjectStore, done: (value: T) => void) => void;

export type Admit = (store: IDBObjectStore, then: () => void) => void;

interface Effects {
  name: string;
  /** The kind of storage changed. */
  onChange: (storage: StorageKind, message: string) => void;
  /** Looks into the database before anything else is done there, and calls `then` if it may be used. */
  admit?: Admit | undefined;
}

const open = (name: string): UseStore => createStore(name, 'records');

/** Transactions that need nothing more from their page. */
const ended = new WeakSet<IDBTransaction>();

/**
 * One IndexedDB database, opened at once and used through small transactions. When it is missing, hangs,
 * is full or is closed under us, work is refused at once, so that nothing waits for it.
 */
export const createJournal = ({ name, onChange, admit }: Effects) => {
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
    if (kind === 'memory') return;
    become('memory', messageOf(error));
    if (reopened) return;
    reopened = true;
    setTimeout(() => {
      use = open(name);
      attempt((store, done: (value: true) => void) => {
        commit(store);
        done(true);
      }).catch(() => undefined); // stays in memory; `fail` has said so
    }, REOPEN_MS);
  };

  /** The next transaction opens it anew. */
  const follow = (database: IDBDatabase) => {
    const lose = () => {
      if (kind === 'indexeddb') become('opening');
    };
    database.addEventListener('close', lose);
    // Nobody asks for another version, so the site deletes it, and waits for this connection to end.
    database.addEventListener('versionchange', () => {
      database.close();
      use = open(name);
      lose();
    });
  };

  const attempt = <T>(work: Work<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      let late = false;
      let transaction: IDBTransaction | undefined;
      const refuse = (error: unknown) => {
        late = true;
        clearTimeout(watchdog);
        fail(error);
        reject(error as Error);
      };
      const abort = () => {
        late = true;
        clearTimeout(watchdog);
        try {
          transaction?.abort(); // what we no longer count on must not happen later
        } catch {
          // already committed or aborted
        }
      };
      const giveUp = () => {
        abort();
        refuse(new Error('IndexedDB does not answer'));
      };
      // In two steps: where the page's own work held the thread, the answer may stand in the queue.
      let watchdog = setTimeout(() => {
        watchdog = setTimeout(giveUp, GRACE_MS);
      }, WATCHDOG_MS - GRACE_MS);
      try {
        use('readwrite', (store) => {
          if (isClosed) {
            store.transaction.db.close();
            return refuse(new Error('closed'));
          }
          if (late) return;
          const begun = (transaction = store.transaction);
          let result: T;
          if (connection !== begun.db) follow((connection = begun.db));
          const breakOff = () => {
            if (ended.has(begun)) return;
            abort();
            reject(new Error('left'));
          };
          running.set(begun, breakOff);
          // A request's success is not durability: quota and disk errors come as the abort.
          begun.onabort = () => {
            running.delete(begun);
            if (!late) refuse(begun.error ?? new Error('aborted'));
          };
          begun.oncomplete = () => {
            running.delete(begun);
            clearTimeout(watchdog);
            if (late) return;
            if (isClosed) return reject(new Error('closed'));
            become('indexeddb');
            resolve(result);
          };
          const begin = () => {
            if (isClosed) return;
            isAdmitted = true;
            work(store, (value) => (result = value));
          };
          if (isAdmitted) begin();
          else admit!(store, begin);
          if (isLeft) breakOff();
        }).catch(refuse);
      } catch (error) {
        refuse(error); // even reading `indexedDB` throws in some private modes
      }
    });

  return {
    kind: (): StorageKind => kind,
    /** Settles once it is known whether there is a database. */
    opened,
    /** Nothing may be stored any more: what has not begun by now never will, and nobody hears of what has. */
    close: (): void => {
      kind = 'memory';
      isClosed = true;
      connection?.close();
      setOpened();
    },
    /**
     * The page is left. A transaction that has yet to read waits for it, which may stand still from now on: in
     * WebKit, all other pages would wait as long. Until it is back, only what reads nothing is done.
     */
    leave: (): void => {
      isLeft = true;
      for (const breakOff of running.values()) breakOff();
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

/** Ends a transaction now: without it, what a page writes while it goes away is mostly lost. */
export const commit = (store: IDBObjectStore): void => {
  ended.add(store.transaction);
  store.transaction.commit?.();
};

export type Journal = ReturnType<typeof createJournal>;
