import { inTime } from '../../util/in-time.js';
import { newId } from '../page.js';
import type { DropReason, Emit, OutboxRecord } from '../types.js';
import type { Database } from './database.js';
import { addRecord, entriesOf, removeEntry } from './memory.js';
import { writeNote } from './note.js';
import type { Entry } from './parcel.js';
import { checkLease, restart, type Store } from './store.js';
import { save, storeNow, unconfirmed, updateNote, writeChanges, writeLast } from './writer.js';

/** A request waits this long, at most, for the write that names its records. */
const NAMING_MS = 100;
/** After a record has ended, wait this long, so that others which end meanwhile share the transaction. */
const TOGETHER_MS = 50;

/** The durable queue of one destination: what this page holds of it, in memory and stored, and what becomes of that. */
export interface Outbox extends Store {
  emit: Emit;
}

type Destination = Pick<Outbox, 'name' | 'settings' | 'emit' | 'onRestart'>;

export const createOutbox = (destination: Destination): Outbox => {
  const life = newId();
  return {
    ...destination,
    maker: life,
    life,
    until: 0,
    parcels: new Set(),
    dirty: new Set(),
    count: 0,
    bytes: 0,
    order: 0,
  };
};

/** Removes a record that was delivered, or that nobody can follow any more. */
export const finish = (store: Store, entry: Entry): void => {
  removeEntry(store, entry);
  save(store, entry.parcel, TOGETHER_MS);
};

/** Removes a record that is not delivered, and reports why. The message says more than the reason, if there is more. */
export const drop = (
  outbox: Outbox,
  entry: Entry,
  reason: DropReason,
  message: string = reason,
): void => {
  finish(outbox, entry);
  outbox.emit('drop', { reason, message, record: entry.record });
};

/** Lets a record wait again, after a failure or because its request does not start after all. */
export const putBack = (store: Store, entry: Entry): void => {
  entry.isSent = entry.isNamed = false;
  save(store, entry.parcel);
};

/** Handles a record whose request nobody can follow any more. */
export const lose = (outbox: Outbox, entry: Entry): void => {
  if (!outbox.parcels.has(entry.parcel)) return;
  if (outbox.settings().resends) putBack(outbox, entry);
  else {
    finish(outbox, entry);
    outbox.emit('outcome', { record: entry.record, outcome: 'unknown' });
  }
};

/** Drops the oldest events while there are too many records, and identifies where there is no event. */
export const trim = (outbox: Outbox): void => {
  const { maxRecords, maxBytes } = outbox.settings();
  while (outbox.count > maxRecords || outbox.bytes > maxBytes) {
    let oldest: Entry | undefined;
    for (const entry of entriesOf(outbox)) {
      if (entry.isSent || entry.isNamed) continue;
      oldest ??= entry;
      if (entry.record.type === 'event') {
        oldest = entry;
        break;
      }
    }
    if (!oldest) return;
    drop(outbox, oldest, 'outbox-full');
  }
};

/** Keeps the record of a call. */
export const keep = (outbox: Outbox, record: OutboxRecord): void => {
  checkLease(outbox);
  save(outbox, addRecord(outbox, record));
  outbox.emit('record', record); // now that it is kept: what a listener calls comes after it
  trim(outbox);
};

/**
 * Names records as in flight, so that whoever claims them after a crash does not send them again: in the exit note, if
 * there is one, and in the database. A hidden page waits for that, too: Firefox loses what a process that is killed has
 * written to localStorage in its last five seconds.
 */
export const nameInFlight = async (store: Store, entries: readonly Entry[]): Promise<void> => {
  for (const entry of entries) {
    entry.isNamed = true;
    store.dirty.add(entry.parcel);
  }
  updateNote(store);
  await inTime(writeChanges(store), NAMING_MS).catch(() => undefined);
};

/** Takes the names of records back whose request has not started. */
const unname = (store: Store) => {
  for (const entry of entriesOf(store)) {
    if (!entry.isNamed || entry.isSent) continue;
    entry.isNamed = false;
    store.dirty.add(entry.parcel);
  }
};

/** Storage may be used from now on, or works again. */
export const useDatabase = (store: Store, database: Database): void => {
  store.database = database;
  for (const parcel of store.parcels) store.dirty.add(parcel);
  void writeChanges(store);
};

/** Stores what is not confirmed, in the database and in the exit note. If the page `isGoing`, a new life begins. */
export const leave = (outbox: Outbox, isGoing: boolean): void => {
  checkLease(outbox);
  const { database } = outbox;
  if (!database || !(outbox.parcels.size || outbox.noted || outbox.isClaiming)) return;
  unname(outbox);
  if (!isGoing) {
    storeNow(outbox);
    return;
  }
  const changed = unconfirmed(outbox);
  const noted = writeNote(outbox, changed, 0);
  const isStored = database.medium() === 'indexeddb';
  if (isStored) writeLast(outbox, changed);
  else if (noted) {
    for (const entry of entriesOf(outbox)) {
      const { parcel, isSent } = entry;
      if (!isSent && !noted.has(parcel) && parcel.stored === 'no')
        drop(outbox, entry, 'outbox-full');
    }
  }
  restart(outbox, () => !isStored && !noted);
};

/** Drops all records. A claim that is under way brings none any more, since a new life begins. */
export const clear = (outbox: Outbox, reason: DropReason): void => {
  const all = [...entriesOf(outbox)];
  restart(outbox, () => false);
  all.forEach((entry) => drop(outbox, entry, reason));
};
