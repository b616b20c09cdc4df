import type { OutboxRecord } from '../types.js';
import type { Hold } from './entry.js';
import { isRecord } from './is-record.js';
import { within } from './journal.js';

/** How long a page may send its records before it has to look again. Longer than any request. */
export const LEASE_MS = 60_000;

/** Records of one task that are stored as one value, at the most. */
export const CHUNK = 20;

/** Values read at a time: a transaction of this size is over in about a millisecond. */
export const WINDOW = 20;

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

export type Numbered = [seq: number, record: OutboxRecord];

/** Records as they stand in the outbox: those of one task are one value. */
export interface Stored {
  v: number;
  records: Numbered[];
}

const leaseKey = (owner: string): IDBValidKey => ['lease', owner];

/** False for what another version, or somebody else, has written. */
const isReadable = (stored: { v: number } | null): boolean => stored?.v === VERSION;

const isLease = (stored: Lease): boolean =>
  isReadable(stored) &&
  [stored.until, stored.since, stored.count].every(Number.isFinite) &&
  Array.isArray(stored.flight);

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
    then(leases.filter(isLease));
  });
};

export const putRecords = (
  store: IDBObjectStore,
  owner: string,
  first: number,
  records: readonly Numbered[],
): void => {
  store.put({ v: VERSION, records } satisfies Record<keyof Stored, unknown>, [owner, first]);
};

export const deleteRecords = (store: IDBObjectStore, owner: string, first: number): void => {
  store.delete([owner, first]);
};

/** Takes records out of one value, which may be another page's by now. */
export const strikeRecords = (
  store: IDBObjectStore,
  owner: string,
  first: number,
  struck: ReadonlySet<number>,
  then: () => void,
): void => {
  read(store.get([owner, first]) as IDBRequest<Stored | undefined>, (stored) => {
    const left = (stored && recordsOf(stored))?.filter(([seq]) => !struck.has(seq)) ?? [];
    if (left.length > 0) putRecords(store, owner, first, left);
    else deleteRecords(store, owner, first);
    then();
  });
};

/** Undefined for what another version, or somebody else, has written. */
export const recordsOf = (stored: Stored): Numbered[] | undefined =>
  isReadable(stored) &&
  stored.records?.every?.((kept) => Number.isFinite(kept?.[0]) && isRecord(kept[1]))
    ? stored.records
    : undefined;

/** Sequence numbers of all that is stored of an owner. */
export const getNumbers = (
  store: IDBObjectStore,
  owner: string,
  then: (seqs: number[]) => void,
): void => {
  read(store.getAll(within(owner)) as IDBRequest<Stored[]>, (values) => {
    then(values.flatMap((stored) => recordsOf(stored)?.map(([seq]) => seq) ?? []));
  });
};

/** What is stored of an owner after a sequence number. */
export const getWindow = (
  store: IDBObjectStore,
  { owner, seq }: Pick<Hold, 'owner' | 'seq'>,
  then: (window: [first: number, stored: Stored][]) => void,
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
