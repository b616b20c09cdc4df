import { read } from './stored.js';

/** Where a denial stands in the database, before all parcels. localStorage has it too, but takes nothing while it is full. */
const KEY = 'consent';

export const putDenial = (store: IDBObjectStore): void => {
  store.put('denied', KEY);
};

export const deleteDenial = (store: IDBObjectStore): void => {
  store.delete(KEY);
};

export const getDenial = (store: IDBObjectStore, then: (isDenied: boolean) => void): void => {
  read(store.get(KEY), (value: unknown) => then(value === 'denied'));
};
