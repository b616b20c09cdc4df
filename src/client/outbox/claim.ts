import type { OutboxRecord } from '../types.js';
import { claimWindow, END, nameUser, type Claimed, type Walk } from './claim-window.js';
import { forgetAway, type Context } from './context.js';
import type { Ends } from './ends.js';
import type { Intake } from './intake.js';
import type { Entry } from './parcel.js';
import { replay } from './replay.js';
import { parcelOf, read } from './stored.js';

/** With fewer claimed records than this in memory, the page claims more. */
const LOW = 20;

/** What `onDrop` gets for a parcel that cannot be read. */
const NO_RECORD: OutboxRecord = { id: '', type: 'event', body: '', at: 0, attempts: 0 };

/** Claims parcels whose holder's time is over, oldest first. */
export const createClaims = (context: Context, ends: Ends, intake: Intake) => {
  const { journal, notes, now, limits, onDrop, line, away } = context;
  const begin = (): Walk => ({ after: [], taken: new Set(), others: 0 });
  /** The latest walk. It may have come to its end. */
  let walk = begin();
  let isBusy = false;

  const inMemory = () => journal.kind() === 'memory';

  /** Claims what it may among the next parcels of a walk. */
  const claim = async (current: Walk): Promise<void> => {
    const began = now();
    let replayed: ReadonlySet<string> = new Set();
    let stored = 0;
    const claimed = await journal.run<Claimed>((store, done) => {
      replayed = replay(context, store, began);
      read(store.count(), (count) => {
        stored = count;
        claimWindow(context, store, current, began, done);
      });
    });
    replayed.forEach(notes.remove);
    for (let i = 0; i < claimed.unreadable; i++) {
      onDrop(NO_RECORD, 'unreadable', 'stored by another version');
    }
    for (const [key, value, by] of claimed.parcels) {
      intake.takeIn(parcelOf(key, value), value, by);
    }
    current.after = claimed.next;
    // Each stored parcel that is not in memory has a record or more.
    if (isUnread()) away.count = Math.max(away.count, stored - line.parcels.length);
    else forgetAway(context, current.others);
  };

  /** Whether the walk has yet to read parcels of this time, or any at all. */
  const isUnread = (at = Infinity): boolean => at > (walk.after[0] ?? 0);

  const wantsMore = (isStarving = false): boolean =>
    isUnread() &&
    !isBusy &&
    journal.mayRead() &&
    (inMemory() || line.claimed() < (isStarving ? limits().maxRecords : LOW));

  /** Begins another walk, from the oldest parcel. */
  const seek = (): void => {
    walk = begin();
  };

  /** Claims the next parcels of the walk. True if it did anything. */
  const refill = async (isStarving: boolean): Promise<boolean> => {
    if (!wantsMore(isStarving)) return false;
    if (inMemory()) {
      walk = { ...begin(), after: END };
      intake.takeInNoted();
    } else {
      isBusy = true;
      try {
        await undefined; // a page that starts to listen in the task of `init` hears of storage that fails
        await claim(walk);
      } catch {
        // The database has failed, and `onChange` has said so. Or the page was left.
      }
      isBusy = false;
    }
    ends.dropSurplus();
    return true;
  };

  return {
    /**
     * Whether the database may have records to claim, and memory has room for them. There is more room with
     * `isStarving`: nothing in memory can be sent, since it waits behind a record that fails.
     */
    wantsMore,
    /** Whether the database may have parcels that the walk has yet to read. */
    hasUnread: (): boolean => isUnread(),
    /**
     * Whether a record has to wait: for older records of its user, which may be unread, or for an identify that
     * another page holds. A page that goes away has no time to read, so there only parcels count that it let go.
     */
    mustWait: ({ record, parcel: { key } }: Entry, isLeaving = false): boolean => {
      const mayBeOlder = isUnread(key[0]) && (!isLeaving || away.count > 0);
      return mayBeOlder || walk.taken.has(nameUser(key, record));
    },
    seek,
    refill,
    /**
     * Keeps to `maxRecords` and `maxBytes`. The oldest events are dropped first. If they wait in the database, the
     * page claims them to drop them.
     */
    makeRoom: async (): Promise<void> => {
      if (!ends.isFull()) return;
      ends.letGoOverdue();
      if (away.count === 0 || journal.kind() !== 'indexeddb') return ends.dropSurplus();
      seek();
      while (ends.isFull() && (await refill(true)));
    },
  };
};

export type Claims = ReturnType<typeof createClaims>;
