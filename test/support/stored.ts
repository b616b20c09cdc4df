import type { ParcelKey } from '../../src/client/outbox/parcel.js';
import type { Stored } from '../../src/client/outbox/stored.js';
import { DATABASE } from './create-page.js';

const whenDone = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error as Error);
  });

/** A connection of the test's own to the pages' database. */
export const openDatabase = async (name = DATABASE): Promise<IDBDatabase> => {
  const request = indexedDB.open(name);
  request.onupgradeneeded = () => request.result.createObjectStore('records');
  return whenDone(request);
};

/** What is stored: parcels, oldest first, and their records. */
export const readStored = async (name = DATABASE) => {
  const database = await openDatabase(name);
  const store = database.transaction('records').objectStore('records');
  const [keys, found] = await Promise.all([
    whenDone(store.getAllKeys()),
    whenDone(store.getAll() as IDBRequest<unknown[]>),
  ]);
  database.close();
  const values = found as Stored[];
  // As a test may have written it: not all of it need be ours.
  const records = values.flatMap((value) => (Array.isArray(value?.records) ? value.records : []));
  return {
    keys: keys as unknown as ParcelKey[],
    values,
    records,
    ids: records.map(({ id }) => id),
  };
};

/** Writes straight into the database, as another version of us would. */
export const putStored = async (entries: [key: IDBValidKey, value: unknown][]): Promise<void> => {
  const database = await openDatabase();
  const transaction = database.transaction('records', 'readwrite');
  for (const [key, value] of entries) transaction.objectStore('records').put(value, key);
  await new Promise((resolve) => (transaction.oncomplete = resolve));
  database.close();
};
