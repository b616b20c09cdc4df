import type { DropReason, OutboxRecord } from '../types.js';
import { claimWindow, type Claimed, type Walk } from './claim-window.js';
import { isOver, type Context } from './context.js';
import { createEntry, createParcel, type Entry, type ParcelKey } from './parcel.js';
import { replay } from './replay.js';
import { read, type Stored } from './stored.js';

/** Fewer claimed records than this in memory: time to claim more. */
const LOW = 20;

interface Parts {
  /** Takes a record in as this page's own. */
  add: (record: OutboxRecord) => void;
  finish: (entry: Entry) => void;
  drop: (entry: Entry, reason: DropReason, message: string) => void;
  /** Lets go of parcels that this page holds no longer. */
  partOver: () => void;
  /** Drops what is too much in memory. */
  dropSurplus: () => void;
  isOld: (record: OutboxRecord) => boolean;
}

/** Stands for what cannot be read. */
const NO_RECORD: OutboxRecord = { id: '', type: 'event', body: '', at: 0, attempts: 0 };

/** Claims parcels whose time is over, the oldest first. */
export const createClaims = (
  context: Context,
  { add, finish, drop, partOver, dropSurplus, isOld }: Parts,
) => {
  const { journal, notes, now, limits, onDrop, onUnknown, line, away, flying, known } = context;
  let walk: Walk | undefined;
  let isBusy = false;
  const seek = () => {
    walk = { after: [], taken: new Set(), others: 0 };
  };
  seek();

  const inMemory = () => journal.kind() === 'memory';

  const takeIn = (key: ParcelKey, value: Stored) => {
    const parcel = createParcel(key, 'stored');
    parcel.until = value.until;
    parcel.isNoted = !!value.isNoted;
    line.insert(parcel);
    for (const record of value.records) {
      const sent = flying.get(record.id);
      const entry = sent ?? createEntry(record, parcel);
      if (sent) {
        sent.parcel.entries.delete(sent);
        sent.parcel = parcel;
      }
      line.add(entry);
      away.count = Math.max(0, away.count - 1);
      away.bytes = Math.max(0, away.bytes - entry.size);
      if (sent) continue;
      const fate = known.get(record.id);
      if (fate === 'ended') {
        known.delete(record.id);
        finish(entry);
        continue;
      }
      const isUnknown = !limits().resends && value.flight.includes(record.id) && !fate;
      if (isUnknown) finish(entry);
      if (isUnknown) onUnknown(record);
      else if (isOld(record)) drop(entry, 'expired', 'older than maxAge');
    }
  };

  /** Claims in one window. */
  const claim = async (current: Walk): Promise<void> => {
    partOver();
    const created = now();
    // The clock may be set while this waits for others: only what is over by both times counts.
    const time = () => Math.min(created, now());
    let replayed: ReadonlySet<string> = new Set();
    const claimed = await journal.run<Claimed>((store, done) => {
      replayed = replay(context, store, time);
      read(store.count(), (count) => {
        // Each value has a record or more, but for those that stand in memory, too.
        away.count = Math.max(away.count, count - line.parcels.length);
        claimWindow(context, store, current, time(), done);
      });
    });
    replayed.forEach(notes.remove);
    for (let i = 0; i < claimed.unreadable; i++) {
      onDrop(NO_RECORD, 'unreadable', 'stored by another version');
    }
    for (const [key, value] of claimed.parcels) takeIn(key, value);
    if (claimed.next) current.after = claimed.next;
    else if (walk === current) {
      walk = undefined;
      Object.assign(away, { count: 0, bytes: 0, others: current.others });
    }
    dropSurplus();
  };

  /** Without a database, what other pages have noted, and never gave to one, is all there is. */
  const absorbNotes = () => {
    for (const note of notes.all()) {
      if (!isOver(context, note.until)) continue;
      const mine = note.parcels.filter(({ isNew }) => isNew);
      const rest = note.parcels.filter(({ isNew }) => !isNew);
      if (mine.length === 0) continue;
      if (rest.length > 0) notes.save({ ...note, parcels: rest });
      else notes.remove(note.holder);
      for (const { flight, records } of mine) {
        for (const record of records) {
          if (known.get(record.id) === 'ended') continue;
          const isUnknown = flight.includes(record.id) && !limits().resends;
          if (isUnknown && !flying.has(record.id)) onUnknown(record);
          else add(record);
        }
      }
    }
  };

  const wantsMore = (isStarving = false): boolean =>
    !!walk &&
    !isBusy &&
    !journal.isLeft() &&
    (inMemory() || line.claimed() < (isStarving ? limits().maxRecords : LOW));

  return {
    /**
     * True when older records may stand in the outbox and memory has room for them. With `isStarving`,
     * nothing in memory can be sent (it waits behind a record that fails): then the room is larger.
     */
    wantsMore,
    /** True while older records may still be unread: a user's newer ones wait for them. */
    hasUnread: (): boolean => !inMemory() && (!!walk || isBusy),
    /** Begins to look anew for what is anybody's. */
    seek,
    /** Claims some more; true when it has done something. */
    refill: async (isStarving: boolean): Promise<boolean> => {
      if (!walk || !wantsMore(isStarving)) return false;
      if (inMemory()) {
        walk = undefined;
        absorbNotes();
        return true;
      }
      isBusy = true;
      try {
        await undefined; // a page that starts to listen in the task of `init` hears of storage that fails
        await claim(walk);
      } catch {
        // The database has failed, and said so: next time from memory. Or the page is left.
      }
      isBusy = false;
      return true;
    },
  };
};
