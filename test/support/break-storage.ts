import { vi } from 'vitest';

/** The next transactions end in an abort, as on a full disk: after the requests succeeded. */
export const abortTransactions = (count = 1): void => {
  const spy = vi.spyOn(IDBTransaction.prototype, 'commit');
  for (let i = 0; i < count; i++) {
    spy.mockImplementationOnce(function (this: IDBTransaction) {
      this.abort();
    });
  }
};

let original: IDBDatabase['transaction'] | undefined;

/** The connection is closed under the page: the next transactions cannot be made. */
export const closeConnection = (count = 1): void => {
  let left = count;
  const make = (original ??= IDBDatabase.prototype.transaction);
  vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (
    this: IDBDatabase,
    ...args
  ) {
    if (args[1] === 'readwrite' && left-- > 0) {
      throw new DOMException('The database connection is closing.', 'InvalidStateError');
    }
    return make.apply(this, args);
  });
};

/** `open` throws, as in a private window of some browsers. Answers with the way back. */
export const forbidOpening = (): (() => void) => {
  const spy = vi.spyOn(indexedDB, 'open').mockImplementation(() => {
    throw new DOMException('The operation is insecure.', 'SecurityError');
  });
  return () => spy.mockRestore();
};

/** `open` never answers, as in WebKit. Answers with the way back. */
export const hangOpening = (): (() => void) => {
  const spy = vi.spyOn(indexedDB, 'open').mockImplementation(() => ({}) as IDBOpenDBRequest);
  return () => spy.mockRestore();
};

/** Another connection's transaction stands in the way of all others until it is let go. */
export const holdStore = (database: IDBDatabase): (() => void) => {
  const store = database.transaction('records', 'readwrite').objectStore('records');
  let isHeld = true;
  const goOn = () => {
    if (isHeld) store.get(['nothing']).onsuccess = goOn;
  };
  goOn();
  return () => {
    isHeld = false;
  };
};
