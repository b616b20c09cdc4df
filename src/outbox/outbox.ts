import type { DropReason, OutboxRecord } from '../types.js';
import { createAdoption } from './adoption.js';
import { hasEnded, isSafe, type Context, type OutboxEffects } from './context.js';
import { putDenial } from './denial.js';
import { createEntry, createHold, type Entry, type Hold } from './entry.js';
import { commit } from './journal.js';
import { createQueue } from './queue.js';
import { createWriter } from './writer.js';

/** What is about to be in flight waits this long for the outbox to say so. */
const ANNOUNCE_MS = 100;

/**
 * The durable queue. What is in memory is written through to the journal; each record belongs to an owner,
 * and only the page that holds the owner's lease may send it.
 */
export const createOutbox = (effects: OutboxEffects) => {
  const { journal, notes, now, newId, limits, onDrop, onUnknown } = effects;
  const queue = createQueue();
  const { entries } = queue;
  const holds = new Map<string, Hold>();
  const flying = new Map<string, Entry>();
  const announced: Context['announced'] = new Map();
  const context: Context = { ...effects, queue, holds, flying, announced };
  let own: Hold | undefined;

  const giveUp = (hold: Hold) => {
    hold.lost = true;
    // Twice lost, its owner may be this page's again by now.
    if (holds.get(hold.owner) === hold) holds.delete(hold.owner);
    writer.forget(hold);
    if (own === hold) own = undefined;
    const given = queue.of(hold);
    given.forEach(queue.take);
    return given;
  };

  /** Another page has adopted the owner: its records are that page's now, but for those never stored. */
  const lose = (hold: Hold, beingWritten: Entry[]) => {
    const unstored = giveUp(hold).filter(({ saved }) => saved === 'no' || saved === 'maybe');
    for (const entry of new Set([...unstored, ...beingWritten])) {
      const { state, record, order } = entry;
      if (entry.hold !== hold || state === 'done') continue;
      if (state === 'flight') rehome(entry);
      else {
        entry.state = 'done'; // here: two writes may have had it
        add(record, order);
      }
    }
  };

  const writer = createWriter(context, lose);

  const finish = (entry: Entry): void => {
    queue.take(entry);
    entry.state = 'done';
    entry.hold.flight.delete(entry.seq);
    flying.delete(entry.record.id);
    writer.deletes(entry);
  };

  const drop = (entry: Entry, reason: DropReason, message: string): void => {
    finish(entry);
    onDrop(entry.record, reason, message);
  };

  /** Gives up what another page may have by now: what becomes of it is told there. */
  const letGoIfEnded = (hold: Hold) => {
    if (hold.until <= 0 || !hasEnded(context, hold.until)) return;
    writer.letGo(hold);
    adoption.seek();
  };

  /** Drops what was not sent, and is this page's to drop. */
  const discard = (entry: Entry, reason: DropReason, message: string): void => {
    letGoIfEnded(entry.hold);
    if (!entry.hold.lost) drop(entry, reason, message);
  };

  const isOld = ({ at }: OutboxRecord): boolean => now() - at > limits().maxAge;

  const ownHold = (since: number): Hold => {
    // What a lease may have ended for is looked at before it is written; new records must not wait for that.
    if (!own || (own.leased && !isSafe(context, own))) {
      const owner = newId();
      own = createHold(owner, since, true);
      holds.set(owner, own);
    } else if (own.count === 0) own.since = since;
    return own;
  };

  /** Sent again, it would be stored twice; and there is something to read that from. */
  const mustAnnounce = (): boolean => !limits().resends && journal.kind() !== 'memory';

  const rehome = (entry: Entry) => {
    const hold = ownHold(entry.record.at);
    Object.assign(entry, { hold, seq: ++hold.seq, saved: 'no' });
    hold.flight.add(entry.seq);
    queue.push(entry, false);
    writer.saves(entry);
  };

  /** Takes a record in: from a call, or from another owner, with its place among the calls where it has one. */
  const add = (record: OutboxRecord, order = 0, isCall = false): void => {
    const hold = ownHold(record.at);
    const entry = createEntry(record, hold, ++hold.seq, order);
    queue.push(entry, isCall);
    writer.saves(entry);
    let surplus;
    while ((surplus = queue.surplus(limits()))) {
      discard(surplus, 'outbox-full', 'more than maxRecords or maxBytes');
    }
  };

  const isOnlyHere = ({ state, saved, noted }: Entry) =>
    state === 'waiting' && saved === 'no' && !noted;

  /** What was stored may be gone, or another page's by now: look before anything is taken for stored. */
  const doubt = () => {
    for (const hold of holds.values()) if (hold.leased) hold.until = 0;
  };

  const release = () => {
    const isInMemory = journal.kind() === 'memory';
    for (const hold of writer.leave(true)) {
      hold.left = true;
      for (const entry of giveUp(hold)) {
        // There was no room for it in the note.
        if (isInMemory && isOnlyHere(entry)) add(entry.record, entry.order);
      }
    }
  };

  const adoption = createAdoption(context, { writer, add, rehome, release, finish, isOld });

  return {
    entries: entries as readonly Entry[],
    latest: queue.latest,
    ...adoption,
    add: (record: OutboxRecord): void => add(record, 0, true),
    doubt,
    finish,
    drop,
    discard,
    isOld,
    renew: writer.renew,
    /** No lease can be renewed until the page is back. */
    isLeft: journal.isLeft,
    /** May this page send it now, without looking at the lease first? */
    canSend: ({ hold }: Entry): boolean => isSafe(context, hold),
    /** Whether the outbox says that it is about to be in flight, where that matters. */
    isAnnounced: (entry: Entry): boolean => !mustAnnounce() || !!announced.get(entry)?.isStored,
    /**
     * Writes down that these are about to be in flight, and nothing else is: killed between the request and
     * that, a page would leave them to be sent again. Settles once it is stored, or takes too long; nothing
     * where there is nothing to wait for.
     */
    announce: (next: readonly Entry[]): Promise<unknown> | undefined => {
      for (const entry of announced.keys()) {
        if (next.includes(entry)) continue;
        announced.delete(entry);
        writer.changed(entry.hold);
      }
      const added = next.filter((entry) => !announced.has(entry));
      if (added.length === 0 || !mustAnnounce()) return undefined;
      const state = { isStored: false };
      for (const entry of added) {
        announced.set(entry, state);
        writer.changed(entry.hold);
      }
      return Promise.race([
        writer.settled(),
        new Promise((resolve) => setTimeout(resolve, ANNOUNCE_MS)),
      ]).then(() => (state.isStored = true));
    },
    /**
     * It is on its way. One that does not outlive the page is not noted as in flight: when the page goes
     * it has nearly always failed, and is sent again.
     */
    begin: (entry: Entry, outlivesPage: boolean): void => {
      entry.state = 'flight';
      entry.record.attempts++;
      if (outlivesPage) entry.hold.flight.add(entry.seq);
      flying.set(entry.record.id, entry);
      const isKnown = announced.delete(entry) && outlivesPage;
      if (!isKnown) writer.changed(entry.hold);
    },
    /** Back to waiting. `answered` when the service said that it did not take it. */
    putBack: (entry: Entry, answered: boolean): void => {
      const { hold, seq, record, order, saved, noted } = entry;
      flying.delete(record.id);
      hold.flight.delete(seq);
      entry.state = 'waiting';
      if (!hold.lost) return writer.changed(hold);
      // Whoever adopted what was stored has counted it as unknown, or sends it again.
      const isElsewhere = noted || saved === 'yes' || saved === 'going';
      if (limits().resends ? !isElsewhere : answered) add(record, order);
      else if (!isElsewhere) onUnknown(record);
    },
    /** Still in flight, but its answer will not come to this page. */
    abandon: ({ record }: Entry): void => {
      flying.delete(record.id);
    },
    /** The page is back: what it abandoned, and could give to nobody, is unknown now. */
    comeBack: (): void => {
      journal.comeBack();
      for (const entry of [...entries]) {
        const { hold, seq, state, record } = entry;
        if (state !== 'flight' || flying.has(record.id)) continue;
        if (hold.flight.delete(seq) && !limits().resends) {
          finish(entry);
          onUnknown(record);
        } else entry.state = 'waiting';
      }
      adoption.seek();
      void writer.sync();
    },
    /** Writes down what a page that may not come back leaves; with `going`, gives it away. */
    leave: (going: boolean): void => {
      if (!going) return void writer.leave(false);
      journal.leave();
      release();
    },
    /** The page's end is the end of what no storage has taken. */
    dropRest: (): void => {
      if (journal.kind() !== 'memory') return;
      for (const entry of entries.filter(isOnlyHere)) {
        drop(entry, 'outbox-full', 'there is no database, and no more room in localStorage');
      }
    },
    /** Storage works again: write all that waits. */
    rewrite: (): void => {
      doubt();
      for (const hold of holds.values()) writer.changed(hold);
      void writer.sync();
      adoption.seek(false); // at the start, the first look is what has opened it
    },
    /** Forgets what this page has, and returns it. */
    clear: (): OutboxRecord[] => {
      for (const hold of [...holds.values()]) letGoIfEnded(hold);
      const records = entries.map(({ record }) => record);
      for (const hold of [...holds.values()]) giveUp(hold);
      writer.forget();
      return records;
    },
    /** Deletes all that is stored or noted, by other pages too. A denial is stored instead. */
    wipe: (isDenied: boolean, onWiped: () => void): void => {
      notes.all().forEach(notes.remove);
      journal
        .run((store, done: (value: undefined) => void) => {
          store.clear();
          if (isDenied) putDenial(store);
          commit(store);
          done(undefined);
        })
        .then(onWiped, () => undefined);
    },
  };
};

export type Outbox = ReturnType<typeof createOutbox>;
