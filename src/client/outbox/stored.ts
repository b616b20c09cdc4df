import type { OutboxRecord } from '../types.js';
import { isRecord } from './is-record.js';
import type { Parcel, ParcelKey } from './parcel.js';

/** Values read at a time: a transaction of this size is over in about a millisecond. */
export const WINDOW = 20;

const VERSION = 2;

/** A parcel as it stands in the database, under its key. */
export interface Stored {
  v: number;
  /** The life of a page that may send it and write it. */
  holder: string;
  /** Until when; 0 where the holder has let it go. */
  until: number;
  /** Ids of records that may be with the service. */
  flight: string[];
  records: OutboxRecord[];
  /** It came out of an exit note. */
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

/** False for what another version, or somebody else, has written. */
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
      // Safari: "without an in-progress transaction". Thrown on, it would be the host page's error.
      try {
        request.transaction?.abort();
      } catch {
        // over already: the watchdog ends it
      }
    }
  };
};
