import type { DropReason, OutboxRecord } from '../types.js';
import { createClaims } from './claim.js';
import { isOver, type Context, type OutboxEffects } from './context.js';
import { createExit } from './exit.js';
import { createLine } from './line.js';
import {
  createEntry,
  createParcel,
  inState,
  PARCEL_RECORDS,
  type Entry,
  type Parcel,
} from './parcel.js';
import { createSending } from './sending.js';
import { isUnderWay, moveParcel, moveRecord } from './states.js';
import { createWriter } from './writer.js';

/** The durable queue. What is in memory is written through to the database, in parcels. */
export const createOutbox = (effects: OutboxEffects) => {
  const { journal, now, newId, limits, onDrop } = effects;
  const line = createLine();
  const flying = new Map<string, Entry>();
  let life = newId();
  const away: Context['away'] = { count: 0, bytes: 0 };
  const known: Context['known'] = new Map();
  const context: Context = { ...effects, line, away, flying, known, holder: () => life };
  let order = 0;
  let made = 0;
  /** The parcel that records of this task go into. */
  let open: Parcel | undefined;

  const part = (parcel: Parcel): void => {
    writer.forget(parcel);
    line.remove(parcel);
    for (const id of parcel.done) known.set(id, 'ended');
    for (const { record } of inState(parcel, 'naming', 'named')) known.set(record.id, 'unsent');
    exit.noteRemains(parcel);
    moveParcel(parcel, 'part');
  };

  const writer = createWriter(context, { part, keepNote: () => exit.keepNote() });

  /** It stands in the database, and may be another page's by now. */
  const isLost = ({ state, until }: Parcel): boolean =>
    state === 'stored' && isOver(context, until);

  /** Lets go of what may be another page's by now. */
  const partOver = (): void => {
    for (const parcel of line.parcels.filter(isLost)) {
      for (const { size } of inState(parcel, 'waiting')) {
        away.count++;
        away.bytes += size;
      }
      part(parcel);
      claims.seek();
    }
  };

  const finish = (entry: Entry): void => {
    moveRecord(entry, 'finish');
    const { parcel, record } = entry;
    line.take(entry);
    flying.delete(record.id);
    if (parcel.state === 'gone') known.set(record.id, 'ended');
    else if (parcel.state === 'new' && parcel.entries.size === 0) part(parcel);
    else parcel.done.add(record.id);
    writer.finished(parcel);
  };

  const drop = (entry: Entry, reason: DropReason, message: string): void => {
    finish(entry);
    onDrop(entry.record, reason, message);
  };

  const isOld = ({ at }: OutboxRecord): boolean => now() - at > limits().maxAge;

  /** The records in memory, oldest first; what has grown too old is dropped. */
  function* young(): Generator<Entry, undefined> {
    for (const entry of line.entries()) {
      if (isUnderWay(entry) || !isOld(entry.record)) yield entry;
      else drop(entry, 'expired', 'older than maxAge');
    }
  }

  const add = (record: OutboxRecord, isCall = false): void => {
    if (!open || open.state !== 'new' || open.entries.size >= PARCEL_RECORDS) {
      open = createParcel([record.at, life, ++made]);
      line.insert(open);
      void writer.touch(open);
      // What follows in another task is written by another transaction.
      queueMicrotask(() => (open = undefined));
    }
    // Where this page has sent it in a former life, its answer is still awaited.
    const entry = flying.get(record.id) ?? createEntry(record, open, isCall ? ++order : 0);
    entry.parcel = open;
    line.add(entry);
    keepCaps();
  };

  /** The oldest events go first: those that are away, then those in memory. */
  const keepCaps = (): void => {
    if (!isFull()) return;
    partOver();
    if (away.count > 0 && journal.kind() === 'indexeddb') void trim();
    else dropSurplus();
  };

  const isFull = (): boolean => line.isFull(limits(), away);

  const dropSurplus = (): void => {
    let surplus;
    while (isFull() && (surplus = line.surplus())) {
      drop(surplus, 'outbox-full', 'more than maxRecords or maxBytes');
    }
  };

  /** Claims what is away, of which what is too much is dropped. */
  const trim = async (): Promise<void> => {
    claims.seek();
    while (isFull() && (await claims.refill(true)));
  };

  const sending = createSending(context, writer, finish);
  const exit = createExit(context, { writer, part, drop });
  const claims = createClaims(context, { add, finish, drop, partOver, dropSurplus, isOld });

  return {
    /** The records in memory that have no end yet, oldest first. */
    entries: line.entries,
    count: line.count,
    /** Records that are not under way, with those that wait in the database without a copy here. */
    waiting: (): number =>
      away.count + [...line.entries()].filter((entry) => !isUnderWay(entry)).length,
    /** Records that other pages hold, as this page has last seen; nothing before it has looked. */
    elsewhere: (): number | undefined => away.others,
    latest: (): number => order,
    ...claims,
    ...sending,
    add: (record: OutboxRecord): void => add(record, true),
    finish,
    drop,
    young,
    /** Lets go of what may be another page's by now, and drops what is too old at the head of the line. */
    tidy: (): void => {
      partOver();
      young().next();
    },
    /** The page is back. What it let go is anybody's, also this next life's of its own. */
    comeBack: (): void => {
      if (journal.isLeft()) life = newId();
      journal.comeBack();
      partOver();
      claims.seek();
    },
    /** Looks for what others have left, and lets go of what this page holds no longer. */
    look: (): void => {
      partOver();
      claims.seek();
    },
    /** Writes down what a page that may not come back leaves; with `isGoing`, lets it go. */
    leave: (isGoing: boolean): void => {
      sending.withdraw();
      partOver();
      exit.leave(isGoing);
    },
    /** Storage works again: writes all that waits. */
    rewrite: (): void => {
      for (const parcel of line.parcels) void writer.touch(parcel);
      if (!claims.hasUnread()) claims.seek();
    },
    /** Forgets what this page has, and returns it. */
    clear: (): OutboxRecord[] => {
      partOver();
      const records = [...line.entries()].map(({ record }) => record);
      for (const parcel of [...line.parcels]) part(parcel);
      return records;
    },
  };
};

export type Outbox = ReturnType<typeof createOutbox>;
