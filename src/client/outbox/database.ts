import { promisifyRequest } from 'idb-keyval';
import { inTime } from '../../util/in-time.js';
import { messageOf } from '../../util/errors.js';
import { isGoing, turns } from '../life.js';
import { later } from '../later.js';
import { mayFail } from '../../util/may-fail.js';
import type { StorageKind } from '../types.js';

/** A database that does not answer within this time counts as missing: in WebKit `open` can hang. */
const WATCHDOG_MS = 1_000;
/** A database that failed is tried again after this time, then after twice as long, and so on, up to the longest. */
const REOPEN_MS = 10_000;
const LONGEST_MS = 3_600_000;

type Work<T> = (store: IDBObjectStore) => T | Promise<T>;

/**
 * One IndexedDB database, opened at the first use and used through small transactions. While it is missing, hangs or
 * is full, or `isBarred` says so, work is refused at once, so that nothing waits for it.
 */
export const openDatabase = (
  name: string,
  onChange: (storage: StorageKind, message: string) => void,
  isBarred?: () => unknown,
) => {
  /** The connection, once it has been asked for. */
  let opened: Promise<IDBDatabase> | undefined;
  let kind: StorageKind = 'opening';
  let reopenMs = REOPEN_MS;
  let timer: number | undefined;
  let reading: IDBTransaction | undefined;
  let connection: IDBDatabase | undefined;
  let isEnded = false;

  const become = (next: StorageKind, message = '') => {
    if (next === kind || isEnded) return;
    kind = next;
    onChange(next, message);
  };

  const forget = () => (opened = undefined);
  const open = (): Promise<IDBDatabase> => {
    if (!opened) {
      const request = indexedDB.open(name);
      request.onupgradeneeded = () => request.result.createObjectStore('records');
      opened = promisifyRequest(request);
    }
    return opened;
  };

  /** Notices when the browser closes the connection, or when the site deletes the database, which waits for that. */
  const watch = (database: IDBDatabase) => {
    connection = database;
    database.onclose = database.onversionchange = () => {
      database.close();
      forget();
      if (kind === 'indexeddb') become('opening');
    };
  };

  /** Runs work in one transaction. It settles when that ends, since a request's success is not durability. */
  const run = async <T>(work: Work<T>, isRead = false): Promise<T> => {
    const before = turns;
    let isLate = kind === 'memory' || isEnded || isBarred?.();
    let transaction: IDBTransaction | undefined;
    let isCommitting = false;
    const perform = async () => {
      const database = await open();
      watch(database);
      transaction = database.transaction('records', 'readwrite');
      const store = transaction.objectStore('records');
      if (isLate || isEnded || (isRead && isGoing())) throw new Error();
      if (isRead) reading = transaction;
      const ended = promisifyRequest(transaction);
      const working = (async () => work(store))();
      await Promise.race([working, ended]);
      isCommitting = true;
      transaction.commit?.(); // without this, most of what a page writes while it goes away is lost
      try {
        await ended;
      } finally {
        isCommitting = false;
      }
      return working;
    };
    try {
      if (isLate) throw new Error();
      const result = await inTime(perform(), WATCHDOG_MS);
      become('indexeddb');
      return result;
    } catch (error) {
      isLate = true;
      // The work was given up, so it must not take effect later. A transaction that is being committed cannot be aborted.
      const isAborted = mayFail(() => (transaction?.abort(), true));
      const isOpen = isCommitting && !isAborted;
      // The failure of a transaction that was under way as the page was left says nothing about the database: Firefox
      // never reports the end of it, not even when the page is back.
      if (kind !== 'memory' && !isEnded && turns === before && !isGoing()) {
        forget();
        timer = later(() => become('opening'), reopenMs);
        reopenMs = Math.min(2 * reopenMs, LONGEST_MS);
        become('memory', messageOf(error));
      }
      throw { isOpen };
    }
  };

  const stopReading = () => mayFail(() => reading?.abort());

  return {
    medium: (): StorageKind => kind,
    run,
    /** Called as the page is left. In WebKit, an open transaction of a cached page blocks the database for others. */
    leave: (): void => {
      stopReading();
      if (!connection) forget(); // Firefox never reports the end of an `open` that was under way
    },
    /** Closes it after the writes that are under way, since transactions run in order. */
    end: async (): Promise<void> => {
      const close = () => connection?.close();
      clearTimeout(timer);
      stopReading(); // after a denial, a claim must store nothing
      void run(close).catch(close);
      await undefined; // what this task has begun to write is written
      isEnded = true;
    },
  };
};

export type Database = ReturnType<typeof openDatabase>;
