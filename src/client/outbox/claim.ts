import type { DropReason, OutboxRecord } from '../types.js';
import { holdMs, isOver, type Context } from './context.js';
import { commit } from './journal.js';
import { createEntry, createParcel, type Entry, type ParcelKey } from './parcel.js';
import { getWindow, isReadable, putStored, read, WINDOW, type Stored } from './stored.js';
import type { Writer } from './writer.js';

/** Fewer claimed records than this in memory: time to claim more. */
const LOW = 20;

interface Parts {
  writer: Writer;
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

interface Claimed {
  parcels: [key: ParcelKey, value: Stored][];
  /** Values in a form that this version does not know. */
  unreadable: number;
  /** Where the next window begins; nothing where this was the last. */
  next: ParcelKey | undefined;
}

/** Stands for what cannot be read. */
const NO_RECORD: OutboxRecord = { id: '', type: 'event', body: '', at: 0, attempts: 0 };

/** One walk through the outbox, from the oldest parcel to the latest. */
interface Walk {
  after: ParcelKey | [];
  /** Users of a maker of whom another page holds something: what is later of theirs is for that page. */
  taken: Set<string>;
}

/** Claims parcels whose time is over, the oldest first. */
export const createClaims = (
  context: Context,
  { writer, add, finish, drop, partOver, dropSurplus, isOld }: Parts,
) => {
  const { journal, notes, now, limits, onDrop, onUnknown, line, away, flying, known, holder } =
    context;
  let walk: Walk | undefined;
  let isBusy = false;
  const seek = () => {
    walk = { after: [], taken: new Set() };
  };
  seek();

  const inMemory = () => journal.kind() === 'memory';

  /** Puts into the database what exit notes say of parcels that are anybody's now. Answers with notes read. */
  const replay = (store: IDBObjectStore, time: number, then: (read: string[]) => void) => {
    const all = notes.all();
    const kept = new Set<string>();
    let left = 1;
    const settle = () => {
      if (--left === 0) then(all.map((note) => note.holder).filter((id) => !kept.has(id)));
    };
    for (const note of all) {
      for (const { key, flight, done, records } of note.parcels) {
        left++;
        read(store.get(key) as IDBRequest<Partial<Stored> | undefined>, (stored) => {
          const until = note.until && isReadable(stored) ? stored.until : note.until;
          const isTheirs = isReadable(stored) ? stored.holder === note.holder : !stored;
          if (!isOver(context, until, time)) kept.add(note.holder);
          else if (isTheirs) {
            const rest = (isReadable(stored) ? stored.records : records).filter(
              ({ id }) => !done.includes(id),
            );
            putStored(store, key, {
              holder: note.holder,
              until: 0,
              flight,
              records: rest,
              isNoted: true,
            });
          }
          settle();
        });
      }
    }
    settle();
  };

  const claimWindow = (
    store: IDBObjectStore,
    { after, taken }: Walk,
    time: number,
    then: (claimed: Claimed) => void,
  ) => {
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
        if (!isOver(context, value.until, time) || users.some((user) => taken.has(user))) {
          for (const user of users) taken.add(user);
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
    if (value.flight.length > 0) writer.finished(parcel);
  };

  /** Claims in one window; says whether it has done something. */
  const claim = async (current: Walk): Promise<boolean> => {
    partOver();
    const life = holder();
    const created = now();
    let replayed: string[] = [];
    const claimed = await journal.run<Claimed>((store, done) => {
      const begin = () => {
        // The clock may have been set while this waited for others: only what is over by both counts.
        claimWindow(store, current, Math.min(created, now()), done);
      };
      read(store.count(), (count) => {
        // Each value has a record or more, but for those that stand in memory, too.
        away.count = Math.max(away.count, count - line.parcels.length);
        replay(store, Math.min(created, now()), (read) => {
          replayed = read;
          begin();
        });
      });
    });
    replayed.forEach(notes.remove);
    // Left or cleared meanwhile, what was claimed is for whoever comes when its time is over.
    if (life !== holder() || journal.isLeft()) return false;
    for (let i = 0; i < claimed.unreadable; i++) {
      onDrop(NO_RECORD, 'unreadable', 'stored by another version');
    }
    for (const [key, value] of claimed.parcels) takeIn(key, value);
    dropSurplus();
    if (claimed.next) current.after = claimed.next;
    else if (walk === current) {
      walk = undefined;
      Object.assign(away, { count: 0, bytes: 0 });
      dropSurplus();
    }
    return true;
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
