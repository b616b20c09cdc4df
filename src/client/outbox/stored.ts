import type { OutboxRecord } from '../types.js';
import { isRecord } from './is-record.js';
import { createParcel, type Parcel, type ParcelKey } from './parcel.js';

/** How many values are read at a time: a transaction of this size takes about a millisecond. */
export const WINDOW = 20;

const VERSION = 2;

/** A parcel as the database has it, under its key. */
export interface Stored {
  v: number;
  /** The life of a page that may send and write it. */
  holder: string;
  /** The holder may do so until then; 0 if it has let the parcel go. */
  until: number;
  /** The ids of records that the service may have. */
  flight: string[];
  records: OutboxRecord[];
  /** The parcel came out of an exit note. */
  isNoted?: boolean;
}

export const storedOf = (
  { entries, isNoted }: Parcel,
  holder: string,
  flight: string[],
): Omit<Stored, 'v' | 'until'> => ({
  holder,
  flight,
  records: [...entries].map(({ record }) => record),
  ...(isNoted && { isNoted }),
});

/** A claimed parcel, without its records. */
export const parcelOf = (key: ParcelKey, { until, isNoted = false }: Stored): Parcel => ({
  ...createParcel(key),
  state: 'stored',
  until,
  isNoted,
});

/** Whether this version has written the value. */
export const isReadable = (value: Partial<Stored> | null | undefined): value is Stored =>
  value?.v === VERSION &&
  Array.isArray(value.flight) &&
  Array.isArray(value.records) &&
  Number.isFinite(value.until) &&
  value.records.every(isRecord);

export const putStored = (
  store: IDBObjectStore,
  key: ParcelKey,
  value: Omit<Stored, 'v'>,
): void => {
  store.put({ ...value, v: VERSION }, key);
};

/** The parcels after a key, oldest first. */
export const getWindow = (
  store: IDBObjectStore,
  after: ParcelKey | [at?: number],
  then: (window: [key: ParcelKey, value: Partial<Stored>][]) => void,
): void => {
  const range = IDBKeyRange.lowerBound(after, true);
  const keys = store.getAllKeys(range, WINDOW) as IDBRequest<unknown> as IDBRequest<ParcelKey[]>;
  read(keys, (found) => {
    read(store.getAll(range, WINDOW) as IDBRequest<Partial<Stored>[]>, (values) => {
      then(values.map((value, i) => [found[i]!, value]));
    });
  });
};

export const read = <T>(request: IDBRequest<T>, then: (value: T) => void): void => {
  request.onsuccess = () => {
    try {
      then(request.result);
    } catch {
      // Safari throws "without an in-progress transaction". That must not become an error of the host page.
      try {
        request.transaction?.abort();
      } catch {
        // already over: the watchdog ends it
      }
    }
  };
};
