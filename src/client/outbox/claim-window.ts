import { holdMs, isClaimable, type Context } from './context.js';
import { commit } from './transaction.js';
import type { ParcelKey } from './parcel.js';
import { getWindow, isReadable, putStored, WINDOW, type Stored } from './stored.js';

/** One walk through the outbox, from the oldest parcel to the latest. */
export interface Walk {
  after: ParcelKey | [];
  /** Users of a maker of whom another page holds something: what is later of theirs is for that page. */
  taken: Set<string>;
  /** Records seen that are another page's. */
  others: number;
}

export interface Claimed {
  parcels: [key: ParcelKey, value: Stored][];
  /** Values in a form that this version does not know. */
  unreadable: number;
  /** Where the next window begins; nothing where this was the last. */
  next: ParcelKey | undefined;
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
    const next = window.length < WINDOW ? undefined : window.at(-1)![0];
    const claimed: Claimed = { parcels: [], unreadable: 0, next };
    for (const [key, value] of window) {
      if (!isReadable(value)) {
        store.delete(key);
        claimed.unreadable++;
        continue;
      }
      if (line.has(key)) continue;
      const users = value.records.flatMap(({ user }) => (user ? [`${key[1]} ${user}`] : []));
      if (!isClaimable(context, value.until, began) || users.some((user) => taken.has(user))) {
        for (const user of users) taken.add(user);
        walk.others += value.records.length;
      } else if (value.records.length === 0) {
        store.delete(key); // a tombstone has done its work
      } else {
        const mine = { ...value, holder: holder(), until: now() + holdMs(context) };
        putStored(store, key, mine);
        claimed.parcels.push([key, mine]);
      }
    }
    commit(store);
    then(claimed);
  });
};
