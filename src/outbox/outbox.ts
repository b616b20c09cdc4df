import type { DropReason, OutboxRecord } from '../types.js';
import { createEntry, createHold, type Entry, type Hold } from './entry.js';
import type { ExitNote, Notes } from './exit-note.js';
import { commit, type Journal } from './journal.js';
import {
  deleteLease,
  deleteRecord,
  getLease,
  getLeases,
  getWindow,
  isReadable,
  LEASE_MS,
  putLease,
  putRecord,
  WINDOW,
  type Lease,
  type Stored,
} from './lease.js';

/** Deletions wait this long for another write to ride on: until then the lease still names them. */
const DELETE_MS = 50;
/** Fewer adopted records than this in memory: time to read more. */
const LOW = 20;

interface Effects {
  journal: Journal;
  notes: Notes;
  now: () => number;
  newId: () => string;
  limits: () => {
    maxRecords: number;
    maxBytes: number;
    maxAge: number;
    timeout: number;
    idempotencyKey?: boolean;
  };
  onDrop: (record: OutboxRecord, reason: DropReason, message: string) => void;
  onUnknown: (record: OutboxRecord) => void;
}

/**
 * The durable queue. What is in memory is written through to the journal; each record belongs to an owner,
 * and only the page that holds the owner's lease may send it.
 */
export const createOutbox = (effects: Effects) => {
  const { journal, notes, now, newId, limits, onDrop, onUnknown } = effects;
  const page = newId();
  /** Adopted records first, then this page's own; each in the order of the calls. */
  const entries: Entry[] = [];
  const holds = new Map<string, Hold>();
  const flying = new Map<string, Entry>();
  const unsaved = new Set<Entry>();
  const gone = new Set<Entry>();
  const dirty = new Set<Hold>();
  let own: Hold | undefined;
  let bytes = 0;
  let excess = 0;
  let seeking = true;
  let busy = false;
  let scheduled = false;
  let lazy: ReturnType<typeof setTimeout> | undefined;

  const keyOf = ({ hold, seq }: Entry) => `${hold.owner} ${seq}`;
  const inMemory = () => journal.kind() === 'memory';
  const leaseMs = () => Math.max(LEASE_MS, 2 * limits().timeout);
  const isSafe = (hold: Hold) =>
    !(hold.leased || hold.noted) || hold.until - now() > limits().timeout;
  const isDrained = (hold: Hold) =>
    hold.count === 0 && !hold.more && hold.flight.size === 0 && hold.unread.size === 0;

  // --- writing -----------------------------------------------------------------------------------

  const touch = () => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(() => void sync());
  };
  const touchLater = () => {
    lazy ??= setTimeout(() => void sync(), DELETE_MS);
  };

  /** What is to stand in the outbox for a hold: its lease, or nothing once all was sent. */
  const leaseOf = (hold: Hold, release: boolean): Omit<Lease, 'v'> | undefined => {
    const { owner, since, count, bytes: size } = hold;
    if (!isDrained(hold)) {
      const until = release ? 0 : now() + leaseMs();
      const flight = [...hold.flight, ...hold.unread];
      return { owner, holder: page, until, since, flight, count, bytes: size };
    }
    hold.leased = false;
    if (!hold.own) holds.delete(owner);
    if (!hold.expired) return undefined;
    // A frozen page may come back and look for its lease: let it find that all was sent.
    const until = now() + limits().maxAge;
    return { owner, holder: '', until, since, flight: [], count: 0, bytes: 0 };
  };

  const extend = (hold: Hold, lease: { until: number } | undefined) => {
    if (!lease || hold.count === 0) return;
    hold.until = lease.until;
    hold.leased = true;
  };

  /** Writes what has changed, in one transaction. A lease that may have ended is looked at in it first. */
  const sync = async (release = false): Promise<void> => {
    scheduled = false;
    clearTimeout(lazy);
    lazy = undefined;
    if (inMemory()) {
      for (const hold of holds.values()) {
        if (hold.noted || isStuck(hold)) leaveNote(hold, hold.until);
      }
      return;
    }
    const puts = [...unsaved];
    const deletes = [...gone];
    const holdsToWrite = [...dirty];
    if (puts.length + deletes.length + holdsToWrite.length === 0) return;
    unsaved.clear();
    gone.clear();
    dirty.clear();
    for (const entry of puts) entry.saved = 'going';
    const lost: Hold[] = [];
    const missing: Hold[] = [];
    const unsave = (entry: Entry) => {
      entry.saved = 'no';
      if (entry.state !== 'done' && !entry.hold.lost) unsaved.add(entry);
    };
    // Taken now: by the time the transaction runs, a leaving page has forgotten its holds.
    const writes = holdsToWrite.map((hold) => {
      const isStale = hold.leased && !isSafe(hold);
      const lease = leaseOf(hold, release);
      const records = puts.filter((entry) => entry.hold === hold);
      if (!isStale) extend(hold, lease);
      return { hold, isStale, lease, records };
    });
    try {
      await journal.run((store, done: (value: undefined) => void) => {
        const write = ({ hold: { owner }, lease, records }: (typeof writes)[number]) => {
          for (const { seq, record } of records) putRecord(store, owner, seq, record);
          if (lease) putLease(store, lease);
          else deleteLease(store, owner);
        };
        for (const entry of deletes) deleteRecord(store, entry);
        const stale = writes.filter(({ isStale }) => isStale);
        let looks = stale.length;
        for (const item of writes) if (!item.isStale) write(item);
        for (const item of stale) {
          getLease(store, item.hold.owner, (lease) => {
            if (lease && lease.holder !== page) lost.push(item.hold);
            else {
              if (!lease) missing.push(item.hold);
              write(item);
            }
            if (--looks === 0) commit(store);
          });
        }
        if (looks === 0) commit(store);
        done(undefined);
      });
    } catch {
      puts.forEach(unsave);
      for (const entry of deletes) gone.add(entry);
      for (const hold of holdsToWrite) if (!hold.lost) dirty.add(hold);
      return touch();
    }
    for (const entry of puts) {
      if (lost.includes(entry.hold)) unsave(entry);
      else entry.saved = 'yes';
    }
    for (const hold of holdsToWrite) if (hold.noted) removeNote(hold);
    for (const { hold, isStale, lease } of writes) {
      if (isStale && !lost.includes(hold)) extend(hold, lease);
    }
    lost.forEach(lose);
    for (const hold of missing.filter(({ count }) => count > 0)) {
      // The storage was cleared under us: write again what waits.
      for (const entry of entries) if (entry.hold === hold) unsave(entry);
      dirty.add(hold);
      touch();
    }
  };

  // --- exit notes --------------------------------------------------------------------------------

  const goneOf = (hold: Hold) => [...gone].filter((entry) => entry.hold === hold);
  /** Delivered, but the storage is gone that should forget it. */
  const isStuck = (hold: Hold) => inMemory() && hold.leased && goneOf(hold).length > 0;

  const leaveNote = (hold: Hold, until: number): void => {
    const note: ExitNote = {
      owner: hold.owner,
      holder: page,
      until,
      flight: [...hold.flight, ...hold.unread, ...goneOf(hold).map(({ seq }) => seq)],
      unsaved: entries
        .filter((entry) => entry.hold === hold && entry.saved !== 'yes')
        .map(({ seq, record }) => [seq, record]),
    };
    hold.noted = notes.save(note);
  };
  const removeNote = (hold: Hold) => {
    notes.remove(hold.owner);
    hold.noted = false;
  };

  // --- the list ----------------------------------------------------------------------------------

  const insert = (batch: Entry[], at: number) => {
    entries.splice(at, 0, ...batch);
    for (const entry of batch) {
      entry.hold.count++;
      entry.hold.bytes += entry.size;
      bytes += entry.size;
    }
  };

  const take = (entry: Entry) => {
    const at = entries.indexOf(entry);
    if (at < 0) return;
    entries.splice(at, 1);
    entry.hold.count--;
    entry.hold.bytes -= entry.size;
    bytes -= entry.size;
  };

  const finish = (entry: Entry): void => {
    take(entry);
    entry.state = 'done';
    entry.hold.flight.delete(entry.seq);
    flying.delete(keyOf(entry));
    unsaved.delete(entry);
    if (entry.saved !== 'no') gone.add(entry);
    if (!entry.hold.lost) dirty.add(entry.hold);
    touchLater();
  };

  const drop = (entry: Entry, reason: DropReason, message: string) => {
    finish(entry);
    onDrop(entry.record, reason, message);
  };

  const isOld = ({ at }: OutboxRecord) => now() - at > limits().maxAge;

  const enforceCaps = () => {
    const { maxRecords, maxBytes } = limits();
    while (entries.length > maxRecords || bytes > maxBytes) {
      const waiting = entries.filter(({ state }) => state === 'waiting');
      const oldest = waiting.find(({ record }) => record.type === 'event') ?? waiting[0];
      if (!oldest) return;
      drop(oldest, 'outbox-full', `more than ${maxRecords} records or ${maxBytes} bytes`);
    }
  };

  const add = (record: OutboxRecord): void => {
    if (!own) {
      own = createHold(newId(), record.at, true);
      holds.set(own.owner, own);
    }
    const entry = createEntry(record, own, ++own.seq, 'no');
    insert([entry], entries.length);
    unsaved.add(entry);
    dirty.add(own);
    enforceCaps();
    touch();
  };

  // --- leases ------------------------------------------------------------------------------------

  /** Another page has adopted the owner: its records are that page's now. */
  const lose = (hold: Hold) => {
    hold.lost = true;
    holds.delete(hold.owner);
    dirty.delete(hold);
    if (own === hold) own = undefined;
    const mine = entries.filter((entry) => entry.hold === hold);
    for (const entry of mine) {
      take(entry);
      if (unsaved.delete(entry) && entry.state === 'waiting') add(entry.record);
    }
  };

  const renewInMemory = (hold: Hold) => {
    if (hold.noted && !notes.read(hold.owner)) return lose(hold);
    if (hold.leased) {
      // What is stored is for whoever can read it; what is only here goes on.
      hold.leased = false;
      for (const entry of [...entries]) {
        if (entry.hold === hold && entry.saved === 'yes' && entry.state === 'waiting') take(entry);
      }
    }
    hold.until = now() + leaseMs();
    if (hold.noted) leaveNote(hold, hold.until);
  };

  const renew = async (hold: Hold): Promise<void> => {
    dirty.add(hold);
    if (!inMemory()) await sync();
    if (inMemory()) renewInMemory(hold);
  };

  // --- adoption ----------------------------------------------------------------------------------

  const intake = (hold: Hold, window: Stored[]) => {
    const batch: Entry[] = [];
    for (const stored of window) {
      hold.seq = stored.seq;
      const { v, seq, ...record } = stored;
      const here = flying.get(`${hold.owner} ${seq}`);
      const entry = here ?? createEntry(record, hold, seq, 'yes');
      entry.hold = hold;
      batch.push(entry);
      const inFlight = hold.unread.delete(seq);
      if (here) hold.flight.add(seq);
      else if (!isReadable({ v })) doomed(entry, 'unreadable', `stored in version ${v}`);
      else if (inFlight && !limits().idempotencyKey) {
        entry.state = 'done';
        onUnknown(record);
      } else if (isOld(record)) doomed(entry, 'expired', 'older than maxAge');
      else if (excess > 0 && record.type === 'event') {
        excess--;
        doomed(entry, 'outbox-full', 'too many records are stored');
      }
    }
    if (window.length < WINDOW) {
      hold.more = false;
      hold.unread.clear(); // what is not stored any more was answered
    }
    const firstOwn = entries.findIndex((entry) => entry.hold.own);
    insert(batch, firstOwn < 0 ? entries.length : firstOwn);
    for (const entry of batch) if (entry.state === 'done') finish(entry);
    dirty.add(hold);
    touchLater();
  };
  const doomed = (entry: Entry, reason: DropReason, message: string) => {
    entry.state = 'done';
    onDrop(entry.record, reason, message);
  };

  const noteAsLease = ({ owner, holder, until, flight, unsaved: records }: ExitNote): Lease => {
    const since = records[0]?.[1].at ?? 0;
    return { v: 1, owner, holder, until, since, flight, count: records.length, bytes: 0 };
  };

  /** A frozen page wrote this after another had adopted its owner: only what it never stored is news. */
  const absorbStray = ({ owner, flight, unsaved: records }: ExitNote) => {
    notes.remove(owner);
    for (const [seq, record] of records) if (!flight.includes(seq)) add(record);
  };

  /** Takes over one owner whose lease has ended, the oldest first; false where there is none. */
  const adopt = async (): Promise<boolean> => {
    const strays: ExitNote[] = [];
    const found = await journal.run<[Hold, Stored[]] | undefined>((store, done) => {
      getLeases(store, (leases) => {
        const time = now();
        const known = new Map(leases.map((lease) => [lease.owner, lease]));
        const noted = new Map<string, ExitNote>();
        for (const note of notes.all()) {
          const lease = known.get(note.owner);
          if (lease?.holder === note.holder || !lease) noted.set(note.owner, note);
          else if (note.until <= time) strays.push(note);
        }
        const orphans = [...noted.values()].filter(({ owner }) => !known.has(owner));
        const untilOf = (lease: Lease) => noted.get(lease.owner)?.until ?? lease.until;
        const ended = [...leases, ...orphans.map(noteAsLease)]
          .filter((lease) => untilOf(lease) <= time && !holds.has(lease.owner) && isReadable(lease))
          .sort((a, b) => a.since - b.since);
        for (const { owner, holder } of ended) if (holder === '') deleteLease(store, owner);
        excess = leases.reduce((sum, { count }) => sum + count, 0) - limits().maxRecords;
        const lease = ended.find(({ holder }) => holder !== '');
        if (!lease) return commit(store);
        const note = noted.get(lease.owner);
        const hold = createHold(lease.owner, lease.since, false);
        hold.leased = true;
        hold.until = time + leaseMs();
        hold.expired = untilOf(lease) !== 0;
        for (const seq of [...lease.flight, ...(note?.flight ?? [])]) hold.unread.add(seq);
        for (const [seq, record] of note?.unsaved ?? []) putRecord(store, hold.owner, seq, record);
        putLease(store, { ...lease, holder: page, until: hold.until, flight: [...hold.unread] });
        getWindow(store, hold, (window) => {
          commit(store);
          done([hold, window]);
        });
      });
    });
    strays.forEach(absorbStray);
    if (!found) return false;
    const [hold, window] = found;
    holds.set(hold.owner, hold);
    notes.remove(hold.owner);
    intake(hold, window);
    return true;
  };

  /** Without a database, what other pages noted is all there is. */
  const absorbNotes = () => {
    for (const note of notes.all()) {
      if (note.until > now() || holds.has(note.owner)) continue;
      const waiting = note.unsaved.filter(([seq]) => !note.flight.includes(seq));
      const inFlight = note.unsaved.filter(([seq]) => note.flight.includes(seq));
      const again = limits().idempotencyKey ? note.unsaved : waiting;
      if (!limits().idempotencyKey) for (const [, record] of inFlight) onUnknown(record);
      for (const [, record] of again) add(record);
      // What is in flight and stored is still to be known by whoever can read the database.
      if (note.flight.length > inFlight.length) notes.save({ ...note, unsaved: [] });
      else notes.remove(note.owner);
    }
  };

  const readMore = async (hold: Hold) => {
    const window = await journal.run<Stored[]>((store, done) => {
      getWindow(store, hold, (records) => {
        commit(store);
        done(records);
      });
    });
    if (!hold.lost) intake(hold, window);
  };

  const nextToRead = () => [...holds.values()].find(({ more }) => more);

  /** True when older records may be stored and memory has room for them. */
  const wantsMore = (): boolean => {
    if (busy || !(seeking || nextToRead())) return false;
    let adopted = 0;
    for (const { hold, dueAt } of entries) {
      if (hold.own || adopted >= LOW) break;
      if (dueAt <= now()) adopted++;
    }
    return adopted < LOW;
  };

  /** Reads older records; true when it has done something. */
  const refill = async (): Promise<boolean> => {
    if (!wantsMore()) return false;
    if (inMemory()) {
      if (seeking) absorbNotes();
      seeking = false;
      for (const hold of holds.values()) hold.more = false; // for a page that can read it
      return true;
    }
    busy = true;
    try {
      const hold = nextToRead();
      if (hold) await readMore(hold);
      else seeking = await adopt();
      return true;
    } catch {
      return true; // the journal has given up: next time from memory
    } finally {
      busy = false;
    }
  };

  return {
    entries: entries as readonly Entry[],
    add,
    finish,
    drop,
    isOld,
    /** True while older records may still be unread: a user's newer ones wait for them. */
    hasUnread: () => !inMemory() && (seeking || busy || [...holds.values()].some((h) => h.more)),
    wantsMore,
    refill,
    /** Looks for leases that have ended, at the next refill. */
    seek: () => {
      seeking = true;
    },
    /** May this page send it now, without looking at the lease first? */
    canSend: ({ hold }: Entry) => isSafe(hold),
    renew,
    begin: (entry: Entry): void => {
      entry.state = 'flight';
      entry.record.attempts++;
      entry.hold.flight.add(entry.seq);
      flying.set(keyOf(entry), entry);
      dirty.add(entry.hold);
      touch();
    },
    /** Back to waiting. `answered` when the service said that it did not take it. */
    putBack: (entry: Entry, answered: boolean): void => {
      const { hold, seq, record } = entry;
      flying.delete(keyOf(entry));
      hold.flight.delete(seq);
      if (!hold.lost) {
        entry.state = 'waiting';
        dirty.add(hold);
        touch();
      } else if (answered) add(record); // whoever adopted it has counted it as unknown
    },
    /** Writes down what a page that may not come back leaves; with `going`, gives it away. */
    leave: (going: boolean): void => {
      const left = [...holds.values()].filter((h) => !isDrained(h) || goneOf(h).length > 0);
      if (left.length === 0) return;
      for (const hold of left) {
        const until = going ? 0 : now() + leaseMs();
        leaveNote(hold, until);
        if (inMemory()) hold.until = until;
        dirty.add(hold);
      }
      const canRead = journal.kind() === 'indexeddb';
      void sync(going);
      if (!going) return;
      for (const hold of left) {
        if (!hold.noted && !canRead) continue; // nobody else could go on with it
        for (const entry of entries.filter((e) => e.hold === hold)) take(entry);
        hold.lost = true;
        holds.delete(hold.owner);
        if (own === hold) own = undefined;
      }
    },
    /** Storage works again: write all that waits. */
    rewrite: (): void => {
      for (const hold of holds.values()) dirty.add(hold);
      touch();
    },
    /** Forgets everything, stored records of other pages too; returns what was waiting here. */
    clear: (): OutboxRecord[] => {
      const records = entries.map(({ record }) => record);
      for (const entry of [...entries]) finish(entry);
      for (const set of [unsaved, gone, dirty, holds, flying]) set.clear();
      own = undefined;
      for (const { owner } of notes.all()) notes.remove(owner);
      journal
        .run((store, done: (value: undefined) => void) => {
          store.clear();
          commit(store);
          done(undefined);
        })
        .catch(() => undefined); // nothing is stored where there is no storage
      return records;
    },
  };
};

export type Outbox = ReturnType<typeof createOutbox>;
