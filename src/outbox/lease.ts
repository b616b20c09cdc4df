import type { OutboxRecord } from '../types.js';
import type { Entry, Hold } from './entry.js';
import { span, within } from './journal.js';

/** How long a page may send its records before it has to look again. Longer than any request. */
export const LEASE_MS = 60_000;

/** Records read at a time: a transaction of this size is over in about a millisecond. */
export const WINDOW = 100;

const VERSION = 1;

/** An owner's lease as it stands in the outbox. */
export interface Lease {
  v: number;
  owner: string;
  /** The page that may send; empty when all was sent and the entry only says so. */
  holder: string;
  until: number;
  since: number;
  /** An earlier page never released it: it may come back and look. */
  expired: boolean;
  /** Sequence numbers in flight. */
  flight: number[];
  /** Live records and their bytes, for the caps. */
  count: number;
  bytes: number;
}

/** A record as it stands in the outbox. */
export interface Stored extends OutboxRecord {
  v: number;
}

const leaseKey = (owner: string): IDBValidKey => ['lease', owner];

/** False for what another version, or somebody else, has written. */
export const isReadable = (stored: { v: number } | null): boolean => stored?.v === VERSION;

export const putLease = (store: IDBObjectStore, lease: Omit<Lease, 'v'>): void => {
  store.put({ ...lease, v: VERSION }, leaseKey(lease.owner));
};

export const deleteLease = (store: IDBObjectStore, owner: string): void => {
  store.delete(leaseKey(owner));
};

export const getLease = (
  store: IDBObjectStore,
  owner: string,
  then: (lease: Lease | undefined) => void,
): void => {
  read(store.get(leaseKey(owner)) as IDBRequest<Lease | undefined>, then);
};

export const getLeases = (store: IDBObjectStore, then: (leases: Lease[]) => void): void => {
  read(store.getAll(within('lease')) as IDBRequest<Lease[]>, (leases) => {
    then(leases.filter(isReadable));
  });
};

export const putRecord = (
  store: IDBObjectStore,
  owner: string,
  seq: number,
  record: OutboxRecord,
): void => {
  store.put({ ...record, v: VERSION } satisfies Stored, [owner, seq]);
};

/** Deletes records, neighbours of one owner in one request: each costs a message to another process. */
export const deleteRecords = (store: IDBObjectStore, entries: Entry[]): void => {
  const sorted = [...entries].sort((a, b) => a.seq - b.seq);
  for (const owner of new Set(entries.map(({ hold }) => hold.owner))) {
    const runs: [first: number, last: number][] = [];
    for (const { hold, seq } of sorted) {
      if (hold.owner !== owner) continue;
      const run = runs.at(-1);
      if (run && run[1] === seq - 1) run[1] = seq;
      else runs.push([seq, seq]);
    }
    for (const [first, last] of runs) store.delete(span(owner, first, last));
  }
};

export const getWindow = (
  store: IDBObjectStore,
  { owner, seq }: Pick<Hold, 'owner' | 'seq'>,
  then: (window: [seq: number, stored: Stored][]) => void,
): void => {
  const range = within(owner, seq);
  read(
    store.getAllKeys(range, WINDOW) as IDBRequest<unknown> as IDBRequest<[string, number][]>,
    (keys) => {
      read(store.getAll(range, WINDOW) as IDBRequest<Stored[]>, (values) => {
        then(values.map((value, i) => [keys[i]![1], value]));
      });
    },
  );
};

const read = <T>(request: IDBRequest<T>, then: (value: T) => void): void => {
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
