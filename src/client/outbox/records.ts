import { inTime } from '../../interface/in-time.js';
import { sinceOpened } from '../page.js';
import type { DropReason, OutboxRecord } from '../types.js';
import type { Database } from './database.js';
import { writeNote } from './note.js';
import {
  addRecord,
  checkLease,
  entriesOf,
  isLeased,
  isMemory,
  removeEntry,
  restart,
  type Outbox,
} from './outbox.js';
import type { Entry } from './parcel.js';
import { flush, save, unconfirmed, writeLast, writeNow } from './writer.js';

/** A request waits this long, at most, for the write that names its records. */
const NAMING_MS = 100;

// How records come to their end.

export const finish = (outbox: Outbox, entry: Entry): void => {
  removeEntry(outbox, entry);
  save(outbox, entry.parcel, true);
};

export const drop = (outbox: Outbox, entry: Entry, reason: DropReason, message?: string): void => {
  finish(outbox, entry);
  outbox.drop(reason, entry.record, message);
};

/** The record waits again, after a failure or because its request does not start after all. */
export const putBack = (outbox: Outbox, entry: Entry): void => {
  entry.isSent = entry.isNamed = false;
  save(outbox, entry.parcel);
};

/** The record was in a request whose answer nobody sees any more. */
export const lose = (outbox: Outbox, entry: Entry): void => {
  if (!outbox.parcels.has(entry.parcel)) return;
  if (outbox.settings().resends) return putBack(outbox, entry);
  finish(outbox, entry);
  outbox.emit('outcome', { record: entry.record, outcome: 'unknown' });
};

/** Drops a record that is too old. Returns whether it was. */
export const expire = (outbox: Outbox, entry: Entry): boolean => {
  const isOld = sinceOpened() - entry.born > outbox.settings().maxAge;
  if (isOld) drop(outbox, entry, 'expired');
  return isOld;
};

/** Drops the oldest events while there are too many, and identifies where there is no event. */
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

// From a call to a request.

/** Keeps the record of a call. */
export const keep = (outbox: Outbox, record: OutboxRecord): void => {
  checkLease(outbox);
  save(outbox, addRecord(outbox, record));
  trim(outbox);
};

/** Whether a record waits for older ones of its user, which are not read yet, or which another page holds. */
export const mustWait = (
  { seen }: Outbox,
  { record, parcel, order }: Entry,
  isLeaving: boolean,
): boolean =>
  record.user !== undefined && (seen ? seen.taken.has(parcel.key[1]) : order > 0 && !isLeaving);

/** Whether no other page can claim the record before a request that starts now has ended. */
export const isSafe = (outbox: Outbox, { parcel }: Entry): boolean =>
  outbox.parcels.has(parcel) && (parcel.stored !== 'yes' || isMemory(outbox) || isLeased(outbox));

/** Names records, so that whoever claims them after a crash does not send them again. */
export const nameInFlight = async (outbox: Outbox, entries: readonly Entry[]): Promise<void> => {
  if (outbox.settings().resends || isMemory(outbox)) return;
  for (const entry of entries) {
    entry.isNamed = true;
    outbox.dirty.add(entry.parcel);
  }
  await inTime(flush(outbox), NAMING_MS).catch(() => undefined);
};

/** A request with the record has started. `isKept`: the browser finishes it even if the page goes (keepalive). */
export const sent = (outbox: Outbox, entry: Entry, isKept: boolean): void => {
  entry.isSent = true;
  if (outbox.settings().resends || isKept === entry.isNamed) return;
  entry.isNamed = isKept;
  save(outbox, entry.parcel);
};

// The use of storage, and its end.

/** Storage may be used from now on, or works again. */
export const useDatabase = (outbox: Outbox, opened: Database): void => {
  outbox.database = opened;
  for (const parcel of outbox.parcels) outbox.dirty.add(parcel);
  void flush(outbox);
};

/** The page is hidden, or is left and begins a new life: it writes and notes what is not confirmed. */
export const leave = (outbox: Outbox, isGoing: boolean): void => {
  checkLease(outbox);
  const { database } = outbox;
  if (!database || !(outbox.parcels.size || outbox.noted || outbox.isClaiming)) return;
  for (const entry of entriesOf(outbox)) {
    if (!entry.isNamed || entry.isSent) continue;
    entry.isNamed = false; // it was about to be sent, and is not
    outbox.dirty.add(entry.parcel);
  }
  const changed = unconfirmed(outbox);
  if (!isGoing) {
    if (changed.length) writeNote(outbox, changed);
    writeNow(outbox);
    return;
  }
  const noted = writeNote(outbox, changed, 0);
  const isStored = database.kind() === 'indexeddb';
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

/** Drops all records. */
export const clear = (outbox: Outbox, reason: DropReason): void => {
  const all = [...entriesOf(outbox)];
  restart(outbox, () => false); // a claim that is under way brings nothing any more
  for (const { record } of all) outbox.drop(reason, record);
};
