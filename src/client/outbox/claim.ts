import type { OutboxRecord } from '../types.js';
import { claimWindow, END, nameUser, type Claimed, type Walk } from './claim-window.js';
import { forgetAway, type Context } from './context.js';
import type { Ends } from './ends.js';
import type { Intake } from './intake.js';
import type { Entry } from './parcel.js';
import { replay } from './replay.js';
import { read } from './stored.js';

/** Fewer claimed records than this in memory: time to claim more. */
const LOW = 20;

interface Parts {
  intake: Intake;
  ends: Ends;
}

/** Stands for what cannot be read. */
const NO_RECORD: OutboxRecord = { id: '', type: 'event', body: '', at: 0, attempts: 0 };

/** Claims parcels whose time is over, the oldest first. */
export const createClaims = (context: Context, { intake, ends }: Parts) => {
  const { journal, notes, now, limits, onDrop, line, away } = context;
  const begin = (): Walk => ({ after: [], taken: new Set(), others: 0 });
  /** The latest, which may have come to its end. */
  let walk = begin();
  let isBusy = false;

  const inMemory = () => journal.kind() === 'memory';

  /** Claims in one window. */
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
    for (const parcel of claimed.parcels) intake.takeInClaimed(...parcel);
    current.after = claimed.next;
    // Each value has a record or more, but for those that stand in memory, too.
    if (isUnread()) away.count = Math.max(away.count, stored - line.parcels.length);
    else forgetAway(context, current.others);
  };

  /** Parcels as late as this one, or any, are unread. */
  const isUnread = (at = Infinity): boolean => at > (walk.after[0] ?? 0);

  const wantsMore = (isStarving = false): boolean =>
    isUnread() &&
    !isBusy &&
    !journal.isLeft() &&
    (inMemory() || line.claimed() < (isStarving ? limits().maxRecords : LOW));

  /** Begins to look anew for what is anybody's. */
  const seek = (): void => {
    walk = begin();
  };

  /** Claims some more; true when it has done something. */
  const refill = async (isStarving: boolean): Promise<boolean> => {
    if (!wantsMore(isStarving)) return false;
    if (inMemory()) {
      walk.after = END;
      intake.takeInNoted();
    } else {
      isBusy = true;
      try {
        await undefined; // a page that starts to listen in the task of `init` hears of storage that fails
        await claim(walk);
      } catch {
        // The database has failed, and said so: next time from memory. Or the page is left.
      }
      isBusy = false;
    }
    ends.dropSurplus();
    return true;
  };

  return {
    /**
     * True when older records may stand in the outbox and memory has room for them. With `isStarving`,
     * nothing in memory can be sent (it waits behind a record that fails): then the room is larger.
     */
    wantsMore,
    /** True while anything may still be unread. */
    hasUnread: (): boolean => isUnread(),
    /**
     * True while a record has to wait for older ones of its user, which are still unread, or for an identify,
     * which another page holds. A page that goes away has no time to look, and waits for those it knows of.
     */
    mustWait: ({ record, parcel: { key } }: Entry, isLeaving = false): boolean => {
      const mayBeOlder = isUnread(key[0]) && (!isLeaving || away.count > 0);
      return mayBeOlder || walk.taken.has(nameUser(key, record));
    },
    seek,
    refill,
    /**
     * Keeps to `maxRecords` and `maxBytes`. The oldest events go first, and they may wait in the database: so the
     * page claims them, and drops what is too much.
     */
    makeRoom: async (): Promise<void> => {
      if (!ends.isFull()) return;
      ends.partOver();
      if (away.count === 0 || journal.kind() !== 'indexeddb') return ends.dropSurplus();
      seek();
      while (ends.isFull() && (await refill(true)));
    },
  };
};

export type Claims = ReturnType<typeof createClaims>;
