import { mayFail } from '../../util/may-fail.js';
import type { Gate } from '../../client/delivery/backoff.js';
import type { StoredLease } from '../../client/outbox/lease.js';
import type { StoredParcel } from '../../client/outbox/parcel.js';
import type { OutboxRecord } from '../../client/types.js';

/** Parcels that are read at a time: of more than these, the oldest are shown. */
const PARCELS = 100;

/** What one life holds in the database. */
export interface StoredLife {
  life: string;
  /** The end of its lease; 0 if it has none, so that any page may claim what it has. */
  until: number;
  records: OutboxRecord[];
}
export interface Stored {
  lives: StoredLife[];
  /** Whether all was read. */
  isComplete: boolean;
}

/** Opens a database that is there: one that would be made by this is not made. */
const openExisting = (name: string): Promise<IDBDatabase | undefined> =>
  new Promise((settle) => {
    const request = indexedDB.open(name);
    request.onupgradeneeded = () => request.transaction!.abort();
    request.onsuccess = () => settle(request.result);
    request.onerror = request.onblocked = () => settle(undefined);
  });

const readAll = (database: IDBDatabase) =>
  new Promise<[parcels: StoredParcel[], leases: StoredLease[]]>((settle, fail) => {
    const store = database.transaction('records', 'readonly').objectStore('records');
    const parcels = store.getAll(IDBKeyRange.upperBound(['lease'], true), PARCELS);
    const leases = store.getAll(IDBKeyRange.lowerBound(['lease']));
    store.transaction.oncomplete = () =>
      settle([parcels.result as StoredParcel[], leases.result as StoredLease[]]);
    store.transaction.onabort = fail;
  });

/** Reads what all pages of the site have stored for a destination; nothing if there is no database, or it fails. */
export const readStored = async (name: string): Promise<Stored | undefined> => {
  let database: IDBDatabase | undefined;
  try {
    database = await openExisting(name);
    if (!database) return undefined;
    const [parcels, leases] = await readAll(database);
    const lives = new Map<string, StoredLife>();
    const lifeOf = (life: string): StoredLife => {
      const known = lives.get(life) ?? { life, until: 0, records: [] };
      lives.set(life, known);
      return known;
    };
    for (const { life, until } of leases) lifeOf(life).until = until;
    for (const { life, records } of parcels) lifeOf(life).records.push(...(records ?? []));
    return { lives: [...lives.values()], isComplete: parcels.length < PARCELS };
  } catch {
    return undefined;
  } finally {
    database?.close();
  }
};

/**
 * The life of this page: the one that has records of its own, or else the one that has as many as the page says that it
 * has.
 */
export const ownLife = (
  lives: readonly StoredLife[],
  isOwn: (id: string) => boolean,
  count: number,
): StoredLife | undefined =>
  lives.find(({ records }) => records.some(({ id }) => isOwn(id))) ??
  (count ? lives.find(({ records, until }) => until && records.length === count) : undefined);

/** The trouble of a destination, as its pages share it; nothing if there is none. */
export const readGate = (name = ''): Partial<Gate> =>
  mayFail(() => JSON.parse(localStorage[`${name} gate`] as string) as Gate) ?? {};
