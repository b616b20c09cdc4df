import type { OutboxRecord } from '../types.js';
import { holdMs, isClaimable, type Context } from './context.js';
import { commit } from './transaction.js';
import type { ParcelKey } from './parcel.js';
import { getWindow, isReadable, putStored, WINDOW, type Stored } from './stored.js';

/** Later than all parcels. */
export const END: Walk['after'] = [Infinity];

/** Names the user of a record and the page that made it. */
export const nameUser = ([, maker]: ParcelKey, { user }: OutboxRecord): string =>
  `${maker} ${user}`;

/** One walk through the outbox, from the oldest parcel to the latest. */
export interface Walk {
  after: ParcelKey | [at?: number];
  /** Users of whom another page holds an identify: what is later of theirs is for that page, or waits for it. */
  taken: Set<string>;
  /** Records seen that are another page's. */
  others: number;
}

export interface Claimed {
  /** `by`: the holder before this page. */
  parcels: [key: ParcelKey, value: Stored, by: string][];
  /** Values in a form that this version does not know. */
  unreadable: number;
  /** After this the next window begins. */
  next: Walk['after'];
}

/** Claims what is anybody's among the next values of a walk, and ends the transaction. */
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
      // This page let it go while a write that holds it for longer was under way. Nobody else may take it now.
      const isOwn = value.holder === holder() && value.records.length > 0;
      const isMine = isOwn || isClaimable(context, value.until, began);
      if (!isMine || value.records.some(isTaken)) {
        for (const record of value.records) {
          if (record.type === 'identify') taken.add(nameUser(key, record));
        }
        walk.others += value.records.length;
      } else if (value.records.length === 0) {
        store.delete(key); // a tombstone has done its work
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
