import type { DropReason, OutboxRecord } from '../types.js';
import { hasEnded, isSafe, leaseMs, type Context } from './context.js';
import { createChunk, createEntry, createHold, joinChunk, type Entry, type Hold } from './entry.js';
import type { ExitNote } from './exit-note.js';
import { commit } from './journal.js';
import {
  deleteLease,
  getLeases,
  getNumbers,
  getWindow,
  putLease,
  putRecords,
  recordsOf,
  WINDOW,
  type Lease,
  type Numbered,
  type Stored,
} from './lease.js';
import type { Writer } from './writer.js';

/** Fewer adopted records than this in memory: time to read more. */
const LOW = 20;

interface Parts {
  writer: Writer;
  /** Takes a record in as this page's own. */
  add: (record: OutboxRecord) => void;
  /** Makes a record in flight from here this page's own. */
  rehome: (entry: Entry) => void;
  /** Gives all away, with notes: the page is left. */
  release: () => void;
  finish: (entry: Entry) => void;
  isOld: (record: OutboxRecord) => boolean;
}

const noteAsLease = ({ owner, holder, until, flight, unsaved }: ExitNote): Lease => {
  const since = unsaved[0]?.[1].at ?? 0;
  const count = unsaved.length;
  return { v: 1, owner, holder, until, since, expired: false, flight, count, bytes: 0 };
};

/** Records that a note says are done with, here or elsewhere. */
const doneIn = ({ taken = [], done = [] }: ExitNote): number[] => [...taken, ...done];

/** Stands for what cannot be read. */
const NO_RECORD: OutboxRecord = { id: '', type: 'event', body: '', at: 0, attempts: 0 };

type Window = [first: number, stored: Stored][];

/** A note, and what is stored of its owner. */
type Stray = [note: ExitNote, stored: number[]];

/** Takes over what other pages have left: owners whose lease has ended, the oldest first. */
export const createAdoption = (
  context: Context,
  { writer, add, rehome, release, finish, isOld }: Parts,
) => {
  const { journal, notes, now, newId, limits, onDrop, onUnknown, queue, holds, flying } = context;
  let isSeeking = true;
  let isBusy = false;
  let excess = 0;
  /** What notes that are gone said to be done, by owner. */
  const known = new Map<string, number[]>();

  const inMemory = () => journal.kind() === 'memory';
  /** A gravestone's end is no lease's: a clock set back must not bring it to an early one. */
  const isOver = ({ holder }: Lease, until: number) =>
    holder ? hasEnded(context, until) : until <= now();
  const nextToRead = () => [...holds.values()].find(({ more }) => more);

  /** Why a stored record is not to be sent, if so. */
  const verdict = (record: OutboxRecord, readable: boolean): [DropReason, string] | undefined => {
    if (!readable) return ['unreadable', 'stored by another version'];
    if (isOld(record)) return ['expired', 'older than maxAge'];
    if (excess <= 0 || record.type !== 'event') return undefined;
    excess--;
    return ['outbox-full', 'too many records are stored'];
  };

  const intake = (hold: Hold, window: Window) => {
    const batch: Entry[] = [];
    const done: Entry[] = [];
    const takeIn = (seq: number, record: OutboxRecord, readable: boolean) => {
      hold.seq = seq;
      const sent = flying.get(record.id);
      const here = sent?.hold.lost ? sent : undefined;
      const entry = Object.assign(here ?? createEntry(record, hold, seq), {
        hold,
        seq,
        saved: 'yes',
      });
      const wasInFlight = hold.unread.delete(seq);
      const wasTaken = hold.taken.delete(seq);
      if (here) hold.flight.add(seq);
      else if ((sent && isSafe(context, sent.hold)) || wasTaken) done.push(entry);
      else if (wasInFlight && readable && !limits().resends) {
        done.push(entry);
        onUnknown(record);
      } else {
        const reason = verdict(record, readable);
        if (reason) {
          done.push(entry);
          onDrop(record, ...reason);
        }
      }
      batch.push(entry);
      return entry;
    };
    for (const [first, stored] of window) {
      const chunk = createChunk(first);
      const records = recordsOf(stored);
      for (const [seq, record] of records ?? [[first, NO_RECORD] satisfies Numbered]) {
        joinChunk(takeIn(seq, record, !!records), chunk);
      }
    }
    if (window.length < WINDOW) {
      hold.more = false;
      hold.unread.clear(); // what is not stored any more was answered
      hold.taken.clear();
    }
    queue.insert(batch);
    done.forEach(finish);
    if (hold.count === 0) writer.changed(hold);
  };

  /**
   * A frozen page wrote this after another had adopted its owner, or the adopter died before it could remove
   * it: only what is stored nowhere is news.
   */
  const absorbStray = ([note, stored]: Stray) => {
    const { owner, flight, unsaved } = note;
    known.set(owner, [...(known.get(owner) ?? []), ...doneIn(note)]);
    notes.remove(note);
    for (const [seq, record] of unsaved) {
      if (!flight.includes(seq) && !stored.includes(seq)) add(record);
    }
  };

  const adopt = async (): Promise<boolean> => {
    const strays: Stray[] = [];
    const found = await journal.run<[Hold, Window, ExitNote | undefined] | undefined>(
      (store, done) => {
        getLeases(store, (leases) => {
          const time = now();
          const leaseOf = new Map(leases.map((lease) => [lease.owner, lease]));
          const noteOf = new Map<string, ExitNote>();
          const orphans: Lease[] = [];
          for (const note of notes.all()) {
            const lease = leaseOf.get(note.owner);
            if (lease && lease.holder !== note.holder) {
              if (hasEnded(context, note.until)) {
                getNumbers(store, note.owner, (stored) => strays.push([note, stored]));
              }
              continue;
            }
            noteOf.set(note.owner, note);
            if (!lease) orphans.push(noteAsLease(note));
          }
          const untilOf = ({ owner, until }: Lease) => noteOf.get(owner)?.until ?? until;
          const ended = [...leases, ...orphans]
            .filter((lease) => isOver(lease, untilOf(lease)) && !holds.has(lease.owner))
            .sort((a, b) => a.since - b.since);
          for (const { owner, holder } of ended) if (!holder) deleteLease(store, owner);
          excess = leases.reduce((sum, { count }) => sum + count, 0) - limits().maxRecords;
          const lease = ended.find(({ holder }) => holder);
          if (!lease) return commit(store);

          const note = noteOf.get(lease.owner);
          const hold = createHold(lease.owner, lease.since, false, newId());
          hold.leased = true;
          const until = time + leaseMs(context);
          // Released by its note alone: the write that says the same may still come, and undo this one. So it
          // is looked at again before anything is sent.
          const stored = leaseOf.get(lease.owner);
          hold.until = stored && hasEnded(context, stored.until) ? until : time;
          hold.expired = lease.expired || untilOf(lease) !== 0;
          // What is noted as a page goes is the last word: in WebKit the lease may be from before.
          const flight = note?.until === 0 ? [] : lease.flight;
          for (const seq of [...flight, ...(note?.flight ?? [])]) hold.unread.add(seq);
          if (note) for (const seq of doneIn(note)) hold.taken.add(seq);
          const unsaved = new Map<number, Numbered[]>();
          for (const [seq, record, first] of note?.unsaved ?? []) {
            unsaved.set(first, [...(unsaved.get(first) ?? []), [seq, record]]);
          }
          for (const [first, records] of unsaved) putRecords(store, hold.owner, first, records);
          const { holder, expired } = hold;
          putLease(store, { ...lease, holder, until, expired, flight: [...hold.unread] });
          getWindow(store, hold, (window) => {
            commit(store);
            done([hold, window, note]);
          });
        });
      },
    );
    strays.forEach(absorbStray);
    if (!found) return false;
    const [hold, window, note] = found;
    for (const seq of known.get(hold.owner) ?? []) hold.taken.add(seq);
    holds.set(hold.owner, hold);
    if (note) {
      // A page without a database may have been quicker.
      if (notes.state(note) === 'taken') for (const [seq] of note.unsaved) hold.taken.add(seq);
      notes.remove(note);
    }
    // Before anything is counted, too: another page may have it by now.
    if (hold.until <= now()) await writer.renew(hold);
    // Left meanwhile, it is for the next page.
    if (journal.isLeft()) release();
    else if (!hold.lost) intake(hold, window);
    return true;
  };

  const readMore = async (hold: Hold) => {
    const window = await journal.run<Window>((store, done) => {
      getWindow(store, hold, (records) => {
        commit(store);
        done(records);
      });
    });
    if (!hold.lost) intake(hold, window);
  };

  /** Without a database, what other pages noted is all there is. */
  const absorbNotes = () => {
    writer.look();
    const ended = notes
      .all()
      .filter(({ owner, until }) => hasEnded(context, until) && !holds.has(owner));
    if (ended.length === 0) return;
    const here = new Set(queue.entries.map(({ record }) => record.id));
    const left = ended.map((note): ExitNote => {
      const taken = doneIn(note);
      for (const [seq, record] of note.unsaved) {
        taken.push(seq);
        // Whoever took it from here may have died before it could say so.
        if (here.has(record.id)) continue;
        here.add(record.id);
        const sent = flying.get(record.id);
        if (sent) rehome(sent);
        else if (note.flight.includes(seq) && !limits().resends) onUnknown(record);
        else add(record);
      }
      return { ...note, unsaved: [], taken };
    });
    for (const note of left) {
      // The same may be stored: whoever can read the database has to know what was taken.
      if (note.stored && note.taken!.length + note.flight.length > 0) notes.save(note);
      else notes.remove(note);
    }
    writer.leave(false); // noted anew, there is room for it now
  };

  /**
   * True when older records may be stored and memory has room for them. With `starving`, nothing in
   * memory can be sent (it waits behind a record that fails): then the room is larger.
   */
  const wantsMore = (starving = false): boolean => {
    if (isBusy || journal.isLeft()) return false;
    if (inMemory()) return isSeeking;
    if (!isSeeking && !nextToRead()) return false;
    const adopted = queue.adopted();
    return adopted < (starving ? limits().maxRecords : LOW);
  };

  return {
    wantsMore,
    /** True while older records may still be unread: a user's newer ones wait for them. */
    hasUnread: (): boolean => !inMemory() && (isSeeking || isBusy || !!nextToRead()),
    /** Looks for leases that have ended, at the next refill; with `anew`, though a look is under way. */
    seek: (anew = true): void => {
      if (anew || !isBusy) isSeeking = true;
    },
    /** Reads older records; true when it has done something. */
    refill: async (starving: boolean): Promise<boolean> => {
      if (!wantsMore(starving)) return false;
      if (inMemory()) {
        isSeeking = false;
        absorbNotes();
        return true;
      }
      isBusy = true;
      try {
        const hold = nextToRead();
        await writer.sync(); // a page that comes back finds deleted what it has delivered
        if (hold) await readMore(hold);
        else {
          isSeeking = false; // set again meanwhile, it stays so
          if (await adopt()) isSeeking = true;
        }
      } catch {
        // The journal has given up, and said so: next time from memory. Or the page is left.
        isSeeking = true;
      }
      isBusy = false;
      return true;
    },
  };
};
