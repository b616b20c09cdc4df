import type { UseStore } from 'idb-keyval';

/** A database that has not answered for this long is treated as missing (WebKit's `open` can hang). */
export const WATCHDOG_MS = 1_000;
const GRACE_MS = 100;

export type Work<T> = (store: IDBObjectStore, done: (value: T) => void) => void;

interface Effects {
  use: UseStore;
  /** The transaction has begun. `breakOff` aborts it, unless it is committed. */
  onBegin: (transaction: IDBTransaction, breakOff: () => void) => void;
  onEnd: (transaction: IDBTransaction) => void;
  /** The database has failed, or does not answer. */
  onFail: (error: unknown) => void;
}

/** The transactions that have been committed, and need nothing more from their page. */
const committed = new WeakSet<IDBTransaction>();

/** Commits a transaction now. Without this, most of what a page writes while it goes away is lost. */
export const commit = (store: IDBObjectStore): void => {
  committed.add(store.transaction);
  store.transaction.commit?.();
};

/** Runs work in one transaction, and settles when that ends. Work that throws counts as a failed database. */
export const runTransaction = <T>(work: Work<T>, effects: Effects): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const { use, onBegin, onEnd, onFail } = effects;
    let isOver = false;
    let transaction: IDBTransaction | undefined;

    const end = () => {
      isOver = true;
      clearTimeout(watchdog);
    };
    const fail = (error: unknown) => {
      end();
      onFail(error);
      reject(error as Error);
    };
    const abort = () => {
      end();
      try {
        transaction?.abort(); // work that was given up must not be done later
      } catch {
        // already committed or aborted
      }
    };
    const giveUp = () => {
      abort();
      fail(new Error('IndexedDB does not answer'));
    };
    // In two steps: if the page's own work held up the thread, the answer may be next in the queue.
    let watchdog = setTimeout(() => {
      watchdog = setTimeout(giveUp, GRACE_MS);
    }, WATCHDOG_MS - GRACE_MS);

    const begin = (store: IDBObjectStore) => {
      if (isOver) return;
      const begun = (transaction = store.transaction);
      let result: T;
      // A request's success is not durability: quota and disk errors come as the abort.
      begun.onabort = () => {
        onEnd(begun);
        if (!isOver) fail(begun.error ?? new Error('aborted'));
      };
      begun.oncomplete = () => {
        onEnd(begun);
        end();
        resolve(result); // without effect if it was given up
      };
      onBegin(begun, () => {
        if (committed.has(begun)) return;
        abort();
        reject(new Error('left'));
      });
      work(store, (value) => (result = value));
    };

    try {
      use('readwrite', begin).catch(fail);
    } catch (error) {
      fail(error); // even reading `indexedDB` throws in some private modes
    }
  });
