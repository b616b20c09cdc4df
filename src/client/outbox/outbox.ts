import type { DropReason, OutboxRecord } from '../types.js';
import type { Destination } from '../destination.js';
import { claimParcels, type Claimed, type Walk } from './claim.js';
import type { Database } from './database.js';
import {
  addParcel,
  addRecord,
  createHeld,
  entriesOf,
  forgetParcel,
  isLeased,
  isMemory,
  isOver,
  putLease,
  removeEntry,
  restart,
} from './held.js';
import { readNotes, removeNote, writeNote } from './note.js';
import { createParcel, TWENTY } from './parcel.js';
import type { Entry, Parcel, ParcelKey, StoredParcel } from './parcel.js';
import { createWriter, unconfirmed } from './writer.js';

/** A request waits this long, at most, for the write that names its records. */
const NAMING_MS = 100;

/** The durable queue of one destination, of which a page has in memory all that it holds. */
export const createOutbox = (
  { name, settings, now, emit, drop: tellDrop }: Destination,
  /** Called when a new life begins: what was under way is forgotten. */
  onRestart: () => void,
) => {
  const held = createHeld(now);
  let walk: Walk | undefined;
  let isClaiming = false;
  /** Whether this life has claimed once: its own records of a user wait for that, since older ones may be stored. */
  let hasClaimed = false;
  /** What the last whole walk has seen of other lives. */
  let seen: Walk | undefined;

  const startWalk = () => {
    walk = { after: [], taken: new Set(), elsewhere: 0, soonest: Infinity };
  };

  /** Begins a new life: forgets all that is stored, and claims like any other page. */
  const renew = (isKept: (parcel: Parcel) => boolean) => {
    restart(held, isKept);
    hasClaimed = false;
    startWalk();
    onRestart();
  };

  /** The page has stood still for longer than its lease, so others may have what it has stored. */
  const checkLease = () => {
    const { until, noted } = held;
    if (!until || !isOver(held, until)) return;
    renew((parcel) => parcel.stored !== 'yes' && !(isMemory(held) && noted?.has(parcel)));
  };

  const writer = createWriter(name, held, checkLease);
  const { save } = writer;

  const finish = (entry: Entry) => {
    removeEntry(held, entry);
    save(entry.parcel);
  };
  const drop = (entry: Entry, reason: DropReason, message?: string) => {
    finish(entry);
    tellDrop(reason, entry.record, message);
  };
  /** The record waits again, after a failure or because its request does not start after all. */
  const putBack = (entry: Entry) => {
    entry.isSent = entry.isNamed = false;
    save(entry.parcel);
  };
  /** The record was in a request whose answer nobody sees any more. */
  const lose = (entry: Entry) => {
    if (settings().resends) return putBack(entry);
    finish(entry);
    emit('outcome', { record: entry.record, outcome: 'unknown' });
  };
  const expire = (entry: Entry): boolean => {
    const isOld = now() - entry.record.at > settings().maxAge;
    if (isOld) drop(entry, 'expired');
    return isOld;
  };

  /** Drops the oldest events while there are too many, and identifies where there is no event. */
  const trim = () => {
    const { maxRecords, maxBytes } = settings();
    while (held.count > maxRecords || held.bytes > maxBytes) {
      let oldest: Entry | undefined;
      for (const entry of entriesOf(held)) {
        if (entry.isSent || entry.isNamed) continue;
        oldest ??= entry;
        if (entry.record.type === 'event') {
          oldest = entry;
          break;
        }
      }
      if (!oldest) return;
      drop(oldest, 'outbox-full');
    }
  };

  const takeIn = (
    key: ParcelKey,
    { flight, records, isNoted }: StoredParcel,
    isStored: boolean,
  ) => {
    // Kept over a new life, which began while it was written: what is in memory is newer.
    if ([...held.parcels].some((own) => `${own.key}` === `${key}`)) return;
    const parcel = createParcel(key, isStored ? 'yes' : 'no', isNoted);
    addParcel(held, parcel, records);
    for (const entry of [...parcel.entries]) {
      if (flight.includes(entry.record.id)) lose(entry);
      else expire(entry);
    }
    if (!isStored) save(parcel, true);
  };

  const endWalk = (ended: Walk | undefined) => {
    seen = ended;
    if (walk === ended) walk = undefined; // or a newer one has begun
  };

  /** Without a database, the page takes over the notes of dead lives that had none either. */
  const claimNotes = () => {
    for (const note of readNotes(name)) {
      const { life, until, parcels } = note;
      const isFree = life !== held.life && isOver(held, until);
      if (!isFree || parcels.some(({ stored }) => stored !== 'no')) continue;
      removeNote(name, life);
      for (const noted of parcels) takeIn(noted.key, noted, false);
    }
    endWalk(walk);
  };

  const claimStored = async (current: Walk): Promise<void> => {
    const { life } = held;
    let claimed: Claimed;
    try {
      claimed = await held.database!.run((store) => claimParcels(store, name, held, current), true);
    } catch {
      if (!isMemory(held) && walk === current) walk = undefined; // the next look begins anew
      return;
    }
    for (const life of claimed.noted) removeNote(name, life);
    for (let i = 0; i < claimed.unreadable; i++) tellDrop('unreadable');
    if (life !== held.life) return;
    for (const [key, stored] of claimed.parcels) takeIn(key, stored, true);
    if (claimed.next) current.after = claimed.next;
    else endWalk(current);
  };

  startWalk();

  return {
    held,
    elsewhere: (): number | undefined => seen?.elsewhere,
    finish,
    drop,
    expire,
    checkLease,
    putBack,
    lose: (entry: Entry): unknown => held.parcels.has(entry.parcel) && lose(entry),

    /** Keeps the record of a call. */
    add: (record: OutboxRecord): void => {
      checkLease();
      save(addRecord(held, record), true);
      trim();
    },
    /** Whether a record waits for older ones of its user, which are not read yet, or which another page holds. */
    mustWait: ({ record, parcel, order }: Entry, isLeaving = false): boolean =>
      record.user !== undefined &&
      ((order > 0 && !hasClaimed && !isLeaving) || !!seen?.taken.has(parcel.key[1])),
    /** Whether no other page can claim the record before a request that starts now has ended. */
    isSafe: ({ parcel }: Entry): boolean =>
      held.parcels.has(parcel) && (parcel.stored !== 'yes' || isMemory(held) || isLeased(held)),
    /** Names records, so that whoever claims them after a crash does not send them again. */
    name: async (entries: readonly Entry[]): Promise<void> => {
      if (settings().resends || isMemory(held)) return;
      for (const entry of entries) {
        entry.isNamed = true;
        held.dirty.add(entry.parcel);
      }
      await Promise.race([writer.flush(), new Promise((done) => setTimeout(done, NAMING_MS))]);
    },
    /** A request of the record has started, which may outlive the page or not. */
    sent: (entry: Entry, isKept: boolean): void => {
      entry.isSent = true;
      if (settings().resends || isKept === entry.isNamed) return;
      entry.isNamed = isKept;
      save(entry.parcel, true);
    },

    wantsMore: (isIdle: boolean): boolean =>
      !!walk && !isClaiming && !!held.database && (isIdle || held.count < TWENTY),
    claim: async (): Promise<void> => {
      isClaiming = true;
      if (isMemory(held)) claimNotes();
      else if (walk) await claimStored(walk);
      isClaiming = false;
      hasClaimed = true;
      trim();
    },
    isClaiming: (): boolean => isClaiming,
    /** Looks again for what dead lives have left, and renews the lease. Returns when the next of theirs ends. */
    look: (): number => {
      checkLease();
      if (isMemory(held)) writer.renote();
      else if (held.count) {
        void held.database?.run((store) => putLease(store, held)).catch(() => undefined);
      }
      startWalk();
      return seen?.soonest ?? Infinity;
    },

    /** Storage may be used from now on, or works again. */
    begin: (opened: Database): void => {
      held.database = opened;
      for (const parcel of held.parcels) held.dirty.add(parcel);
      void writer.flush();
    },
    /** The page is hidden, or is left and begins a new life: it writes and notes what is not confirmed. */
    leave: (isGoing: boolean): void => {
      checkLease();
      const { database } = held;
      if (!database || !(held.parcels.size || held.noted)) return;
      for (const entry of entriesOf(held)) {
        if (!entry.isNamed || entry.isSent) continue;
        entry.isNamed = false; // it was about to be sent, and is not
        held.dirty.add(entry.parcel);
      }
      const changed = unconfirmed(held);
      if (!isGoing) {
        if (changed.length) writeNote(name, held, changed);
        writer.writeNow();
        return;
      }
      const noted = writeNote(name, held, changed, 0);
      const isStored = database.kind() === 'indexeddb';
      if (isStored) writer.writeLast(changed);
      else if (noted) {
        for (const entry of entriesOf(held)) {
          const { parcel, isSent } = entry;
          if (!isSent && !noted.has(parcel) && parcel.stored === 'no') drop(entry, 'outbox-full');
        }
      }
      renew(() => !isStored && !noted);
    },
    /** Drops all records. */
    clear: (reason: DropReason): void => {
      const all = [...entriesOf(held)];
      for (const parcel of held.parcels) forgetParcel(held, parcel);
      for (const { record } of all) tellDrop(reason, record);
    },
  };
};

export type Outbox = ReturnType<typeof createOutbox>;
