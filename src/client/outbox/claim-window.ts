import type { OutboxRecord } from '../types.js';
import { holdMs, isClaimable, type Context } from './context.js';
import { commit } from './transaction.js';
import type { ParcelKey } from './parcel.js';
import { getWindow, isReadable, putStored, WINDOW, type Stored } from './stored.js';

/** Where a walk stands when it has read everything. */
export const END: Walk['after'] = [Infinity];

/** The user of a record, and the page that made it: records of the two together are kept in order. */
export const nameUser = ([, maker]: ParcelKey, { user }: OutboxRecord): string =>
  `${maker} ${user}`;

/** One walk through the database, from the oldest parcel to the latest. */
export interface Walk {
  /** The key of the parcel that was read last. */
  after: ParcelKey | [at?: number];
  /** Users of whom another page holds an identify. Their later records are for that page, or wait for it. */
  taken: Set<string>;
  /** How many records other pages hold, of those read so far. */
  others: number;
}

export interface Claimed {
  /** Each with the holder that had it before. */
  parcels: [key: ParcelKey, value: Stored, by: string][];
  /** How many values another version has stored, which this one cannot read. */
  unreadable: number;
  /** The walk goes on after this key. */
  next: Walk['after'];
}

/** Claims what it may among the next parcels of a walk, and ends the transaction. */
export const claimWindow = (
  context: Context,
  store: IDBObjectStore,
  walk: Walk,
  began: number,
  then: (claimed: Claimed) => void,
): void => {
  const { line, now, holder } = context;
  const { after, taken } = walk;
  getWindow(store, after, (window) => {
    const next = window.length < WINDOW ? END : window.at(-1)![0];
    const claimed: Claimed = { parcels: [], unreadable: 0, next };
    for (const [key, value] of window) {
      if (!isReadable(value)) {
        store.delete(key);
        claimed.unreadable++;
        continue;
      }
      if (line.has(key)) continue;
      const isTaken = (record: OutboxRecord) => taken.has(nameUser(key, record));
      // A write that extended the hold was under way as this page let the parcel go. No other page may take it.
      const isOwn = value.holder === holder() && value.records.length > 0;
      const isMine = isOwn || isClaimable(context, value.until, began);
      if (!isMine || value.records.some(isTaken)) {
        for (const record of value.records) {
          if (record.type === 'identify') taken.add(nameUser(key, record));
        }
        walk.others += value.records.length;
      } else if (value.records.length === 0) {
        store.delete(key); // a tombstone is needed no longer than a hold
      } else {
        const mine = { ...value, holder: holder(), until: now() + holdMs(context) };
        putStored(store, key, mine);
        claimed.parcels.push([key, mine, value.holder]);
      }
    }
    commit(store);
    then(claimed);
  });
};
