import { isSafe, keyOf, leaseMs, type Context } from './context.js';
import {
  createChunk,
  flightOf,
  isDrained,
  joinChunk,
  type Chunk,
  type Entry,
  type Hold,
} from './entry.js';
import { commit } from './journal.js';
import {
  CHUNK,
  deleteLease,
  deleteRecords,
  getLease,
  putLease,
  putRecords,
  strikeRecords,
  type Lease,
  type Numbered,
} from './lease.js';
import { createNoteWriter } from './note-writer.js';

/** Deletions wait this long for more of them: until then the lease names them as in flight. */
const DELETE_MS = 50;

interface Write {
  hold: Hold;
  /** The lease may have ended: it has to be looked at first. */
  isStale: boolean;
  lease: Omit<Lease, 'v'> | undefined;
  /** New records. */
  puts: Entry[];
  /** Records that are done with. */
  deletes: Entry[];
  /** What is to stand of the records they are stored with. */
  chunks: [first: number, records: Numbered[]][];
  /** The exit note that says the same. */
  note: number;
  /** Nothing is left of the hold with it. */
  isLast: boolean;
  /** The lease before, and its end. */
  wasLeased: boolean;
  until: number;
}

const numbered = ({ seq, record }: Entry): Numbered => [seq, record];

/** Writes through to the journal what has changed in memory, a task's changes in one transaction. */
export const createWriter = (
  context: Context,
  /** Another page has the owner now. `puts` were being written when that showed. */
  onLost: (hold: Hold, puts: Entry[]) => void,
) => {
  const { journal, now, limits, queue, holds, announced } = context;
  const unsaved = new Set<Entry>();
  const gone = new Set<Entry>();
  /** Of those, what is being deleted just now. */
  const ending = new Set<Entry>();
  const dirty = new Set<Hold>();
  /** Of each owner, what its next records are stored with. */
  const open = new Map<Hold, Chunk>();
  /** The next write. */
  let scheduled: Promise<void> | undefined;
  /** All writes so far. */
  let written: Promise<unknown> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const inMemory = () => journal.kind() === 'memory';
  const seqsOf = (hold: Hold, ...sets: Iterable<Entry>[]): number[] =>
    sets.flatMap((set) => [...set].filter((entry) => entry.hold === hold)).map(({ seq }) => seq);

  /** Nothing left of it to send, to wait for, or to delete. */
  const isFinished = (hold: Hold) => isDrained(hold) && seqsOf(hold, gone).length === 0;

  const touch = (): Promise<void> => (scheduled ??= Promise.resolve().then(() => sync()));

  const unsave = (entry: Entry, saved: Entry['saved']) => {
    entry.saved = saved;
    unsaved.add(entry);
  };

  const notes = createNoteWriter(context, (hold) => [...seqsOf(hold, gone, ending), ...hold.taken]);

  /** What is to stand in the outbox for a hold: its lease, or nothing once all was sent. */
  const leaseOf = (hold: Hold, release: boolean): Write['lease'] => {
    const { owner, holder, since, count, bytes } = hold;
    if (!isFinished(hold)) {
      const until = release ? 0 : now() + leaseMs(context);
      const { expired } = hold;
      // Until its deletion is stored, what is done with must not be sent again either.
      const flight = [...flightOf(hold), ...seqsOf(hold, gone, announced.keys())];
      return { owner, holder, until, since, expired, flight, count, bytes };
    }
    if (!hold.expired) return undefined;
    // A frozen page may come back and look for its lease: let it find that all was sent.
    const until = now() + limits().maxAge;
    return { owner, holder: '', until, since, expired: true, flight: [], count: 0, bytes: 0 };
  };

  const extend = ({ hold, lease }: Write) => {
    if (!lease || hold.count === 0) return;
    hold.until = lease.until;
    hold.leased = true;
  };

  const writeOf = (hold: Hold, allPuts: Entry[], allDeletes: Entry[], release: boolean): Write => {
    // What was noted before the database could be opened may be another page's by then.
    const isLate = hold.noted > 0 && journal.kind() !== 'indexeddb';
    const isStale = isLate || (hold.leased && !isSafe(context, hold));
    const isOurs = (entry: Entry) => entry.hold === hold;
    const [puts, deletes] = [allPuts.filter(isOurs), allDeletes.filter(isOurs)];
    const changed = new Set([...puts, ...deletes].flatMap(({ chunk }) => chunk ?? []));
    const chunks = [...changed].map(({ first, alive }): Write['chunks'][number] => [
      first,
      [...alive].map(numbered),
    ]);
    const { noted: note, until, leased: wasLeased } = hold;
    const isLast = isFinished(hold);
    const lease = leaseOf(hold, release);
    const write = { hold, isStale, isLast, lease, puts, deletes, chunks, note, wasLeased, until };
    if (!isStale) extend(write);
    return write;
  };

  const apply = (store: IDBObjectStore, { hold: { owner }, lease, chunks }: Write) => {
    for (const [first, records] of chunks) {
      if (records.length > 0) putRecords(store, owner, first, records);
      else deleteRecords(store, owner, first);
    }
    if (lease) putLease(store, lease);
    else deleteLease(store, owner);
  };

  /** One transaction. Answers with what it found of the leases it had to look at. */
  const transact = (writes: Write[], strays: Entry[]) =>
    journal.run<Map<Write, 'lost' | 'missing' | 'mine'>>((store, done) => {
      const found = new Map<Write, 'lost' | 'missing' | 'mine'>();
      // Looked at again: the page may have been frozen since.
      for (const write of writes) {
        const { hold, wasLeased, until, lease } = write;
        // A database that took long to open may have been used meanwhile by whoever took the note.
        const isLate = !!lease?.until && lease.until <= now();
        write.isStale ||= isLate || isTaken(hold) || (wasLeased && until - now() <= 0);
      }
      const stale = writes.filter(({ isStale }) => isStale);
      if (stale.length + strays.length > 0 && journal.isLeft()) return; // broken off
      let pending = 1;
      const settle = () => {
        if (--pending === 0) commit(store);
      };
      /** A value at a time: what one reads is what the last has left. */
      const strike = (entries: Entry[]) => {
        const struck = new Map<string, [owner: string, first: number, seqs: Set<number>]>();
        for (const { hold, seq, chunk } of entries) {
          const { owner } = hold;
          const first = chunk?.first ?? seq;
          const key = keyOf(owner, first);
          const [, , seqs] = struck.get(key) ?? [owner, first, new Set()];
          struck.set(key, [owner, first, seqs.add(seq)]);
        }
        for (const value of struck.values()) {
          pending++;
          strikeRecords(store, ...value, settle);
        }
      };
      strike(strays);
      for (const write of writes) if (!write.isStale) apply(store, write);
      for (const write of stale) {
        pending++;
        getLease(store, write.hold.owner, (lease) => {
          const { hold } = write;
          const note = noteOf(hold);
          // Taken by the note, it is another's, though the lease does not know.
          const isLost = lease
            ? lease.holder !== hold.holder || note === 'taken'
            : note !== undefined && note !== 'whole';
          found.set(write, isLost ? 'lost' : lease ? 'mine' : 'missing');
          if (isLost) strike(write.deletes);
          else apply(store, write);
          settle();
        });
      }
      settle();
      done(found);
    });

  /** With `release`, the page goes away, and gives its leases up. */
  const sync = async (deleting = false, release = false): Promise<void> => {
    scheduled = undefined;
    if (inMemory()) {
      notes.keepSoon();
      return;
    }
    const puts = [...unsaved]; // those of a lost hold come into no write
    const deletes = deleting ? [...gone] : [];
    if (deleting) {
      clearTimeout(timer);
      timer = undefined;
      for (const { hold } of deletes) if (!hold.lost) dirty.add(hold);
      gone.clear();
    }
    // Taken now: by the time the transaction runs, a leaving page has forgotten its holds.
    const writes = [...dirty].map((hold) => writeOf(hold, puts, deletes, release));
    const fresh = writes.filter(({ isStale }) => !isStale);
    const stale = writes.filter(({ isStale }) => isStale);
    const strays = deletes.filter(({ hold }) => hold.lost);
    unsaved.clear();
    dirty.clear();
    open.clear();
    // Apart: once the page is left, what has to read first is broken off.
    const work = Promise.all([written, attempt(fresh, []), attempt(stale, strays)]).then(
      () => undefined,
    );
    written = work;
    await work;
  };

  const attempt = async (writes: Write[], strays: Entry[]) => {
    if (writes.length + strays.length === 0) return;
    const allDeletes = [...strays, ...writes.flatMap(({ deletes }) => deletes)];
    for (const entry of allDeletes) ending.add(entry);
    for (const { puts } of writes) for (const entry of puts) entry.saved = 'going';
    try {
      const found = await transact(writes, strays);
      for (const write of writes) conclude(write, found.get(write));
    } catch {
      for (const entry of allDeletes) gone.add(entry);
      for (const { hold, puts, until } of writes) {
        for (const entry of puts) unsave(entry, 'maybe');
        hold.until = Math.min(hold.until, until);
        if (!hold.lost) dirty.add(hold);
        else if (!hold.left) onLost(hold, puts);
      }
      if (!journal.isLeft()) void touch(); // else when it is back
    }
    for (const entry of allDeletes) ending.delete(entry);
  };

  /** What has become of its note, where it has one. */
  const noteOf = (hold: Hold) => (hold.noted ? context.notes.state(hold) : undefined);

  /** Whether another page has taken its note: with it, all that was noted. */
  const isTaken = (hold: Hold): boolean => {
    if ((noteOf(hold) ?? 'whole') === 'whole') return false;
    for (const entry of queue.of(hold)) if (entry.noted) entry.saved = 'yes';
    return true;
  };

  const conclude = (write: Write, found: 'lost' | 'missing' | 'mine' | undefined) => {
    const { hold, puts } = write;
    for (const entry of puts) {
      if (entry.hold === hold) entry.saved = found === 'lost' ? 'no' : 'yes';
    }
    if (found === 'lost') {
      if (hold.left) return; // noted
      const wasTaken = isTaken(hold);
      if (!wasTaken && hold.noted) notes.remove(hold);
      const isLeft = ({ saved, noted }: Entry) => saved === 'no' && !(wasTaken && noted);
      return onLost(hold, puts.filter(isLeft));
    }
    // One that says what was taken is for whoever reads the same here; and WebKit says of what a page writes
    // as it goes that it is stored, and forgets it.
    const isNeeded = hold.left || hold.taken.size > 0 || noteOf(hold) === 'taken';
    if (hold.noted && hold.noted === write.note && !isNeeded) notes.remove(hold);
    if (found) extend(write);
    if (isFinished(hold) && write.isLast) {
      hold.leased = false;
      if (!hold.own) holds.delete(hold.owner);
    }
    if (found === 'missing' && hold.count > 0) {
      // The storage was cleared under us: write again what waits.
      for (const entry of queue.of(hold)) unsave(entry, 'no');
      changed(hold);
    }
  };

  const changed = (hold: Hold): void => {
    if (hold.lost) return; // what stands of it is for others
    dirty.add(hold);
    void touch();
  };

  const renewInMemory = (hold: Hold) => {
    if (isTaken(hold)) return onLost(hold, []);
    if (hold.leased) {
      // What is stored is for whoever can read it; what is only here goes on under another owner.
      const wasNoted = hold.noted > 0;
      for (const entry of queue.of(hold)) if (entry.saved === 'going') entry.saved = 'maybe';
      notes.giveUp(hold);
      onLost(hold, []);
      if (wasNoted) notes.begin();
      return;
    }
    hold.until = now() + leaseMs(context);
    notes.keep();
  };

  /** Looks, as far as that can be done at once, at what another page may have taken. */
  const look = () => {
    for (const hold of holds.values()) {
      if (!(hold.until || hold.noted) || isSafe(context, hold)) continue;
      if (inMemory()) renewInMemory(hold);
      else if (noteOf(hold) === 'taken' && isTaken(hold)) onLost(hold, []);
    }
  };

  return {
    look,
    /** Writes all that has changed, deletions too. */
    sync: (): Promise<void> => sync(true),
    /** The hold's lease has to be written. */
    changed,
    /** Settles once all that has changed by now is stored, or could not be. */
    settled: touch,
    /** A new record. */
    saves: (entry: Entry): void => {
      const { hold, seq } = entry;
      let chunk = open.get(hold);
      if (!chunk || chunk.alive.size >= CHUNK) open.set(hold, (chunk = createChunk(seq)));
      joinChunk(entry, chunk);
      unsaved.add(entry);
      changed(hold);
    },
    /** A record that is done with. */
    deletes: (entry: Entry): void => {
      unsaved.delete(entry);
      entry.chunk?.alive.delete(entry);
      if (entry.hold.left) context.notes.finish(entry.hold, entry.seq);
      if (entry.saved !== 'no') gone.add(entry);
      else if (!entry.hold.lost) dirty.add(entry.hold);
      timer ??= setTimeout(() => {
        timer = undefined;
        void sync(true);
      }, DELETE_MS);
    },
    /** Looks whether the lease is still this page's, and lengthens it. */
    renew: async (hold: Hold): Promise<void> => {
      dirty.add(hold);
      if (!inMemory()) await sync();
      if (inMemory()) renewInMemory(hold);
    },
    /** Its lease has ended, and there is no time to look: what is stored is for whoever does. */
    letGo: (hold: Hold): void => {
      if (inMemory()) return renewInMemory(hold);
      if (!isTaken(hold) && hold.noted) notes.remove(hold);
      onLost(hold, []);
    },
    /**
     * Writes the exit notes of what is left, and the same into the journal. Answers with the holds that
     * another page can go on with.
     */
    leave: (going: boolean): Hold[] => {
      announced.clear();
      look(); // what another page has taken meanwhile is not to be given away again
      // Nor is anything being deleted, which may come to nothing.
      const isOver = (hold: Hold) => isFinished(hold) && seqsOf(hold, ending).length === 0;
      const left = [...holds.values()].filter((hold) => !isOver(hold) || hold.noted > 0);
      const until = going ? 0 : now() + leaseMs(context);
      const given: Hold[] = [];
      for (const hold of left) {
        let isKept = journal.kind() === 'indexeddb';
        if (isOver(hold)) notes.remove(hold);
        else isKept = notes.save(hold, until) || isKept;
        if (isKept) given.push(hold);
        if (isKept && inMemory()) hold.until = until;
        // What is being stored may fail yet: it is told by the note, which goes once this write is stored.
        for (const entry of queue.of(hold)) if (entry.saved === 'going') unsaved.add(entry);
        dirty.add(hold);
      }
      if (left.length > 0) void sync(true, going);
      return given;
    },
    forget: (hold?: Hold): void => {
      if (hold) dirty.delete(hold);
      else for (const set of [unsaved, gone, dirty, open]) set.clear();
    },
  };
};

export type Writer = ReturnType<typeof createWriter>;
