import { ahead } from '../../interface/backoff.js';
import { isLoading } from '../life.js';
import { claimParcels, type Walk } from './claim.js';
import { readNotes, removeNote } from './note.js';
import { addParcel, isMemory, leaseEnd, startWalk } from './outbox.js';
import type { Outbox } from './outbox.js';
import { createParcel, type ParcelKey, type StoredParcel } from './parcel.js';
import { lose, trim } from './records.js';
import { save, write } from './writer.js';

/** After its start the page looks again this soon: the page before it may still have been writing. */
const SOON_MS = 5_000;
/** It looks at least this often while it lives. */
const LOOK_MS = 30_000;

/**
 * If it is time, looks again for what dead lives have left, and renews the lease. Returns the time of the next look: as
 * another life's lease ends, but 5 to 30 seconds from now; 5 while the page loads.
 */
export const look = (outbox: Outbox): number => {
  const time = outbox.now();
  if (ahead(outbox.lookAt, time, LOOK_MS)) return outbox.lookAt;
  if (outbox.count) void write(outbox, []); // renews the lease, or the note where there is no database
  if (!outbox.isClaiming) startWalk(outbox); // a claim that is under way sees what there is
  const soonest = outbox.seen?.soonest ?? 0;
  const longest = isLoading() ? SOON_MS : LOOK_MS; // its lease is short
  return (outbox.lookAt = time + Math.min(longest, Math.max(soonest - time, SOON_MS)));
};

/** Whether there may be more to claim. */
export const mayClaim = ({ walk, isClaiming }: Outbox): boolean => !!walk && !isClaiming;

const takeIn = (
  outbox: Outbox,
  key: ParcelKey,
  { flight, records, isNoted }: StoredParcel,
  isStored: boolean,
) => {
  // Kept over a new life, which began while it was written: what is in memory is newer.
  if ([...outbox.parcels].some((own) => `${own.key}` === `${key}`)) return;
  const parcel = createParcel(key, isStored ? 'yes' : 'no', isNoted);
  addParcel(outbox, parcel, records);
  for (const entry of [...parcel.entries]) {
    if (flight.includes(entry.record.id)) lose(outbox, entry);
  }
  if (!isStored) save(outbox, parcel);
};

const endWalk = (outbox: Outbox) => {
  outbox.seen = outbox.walk;
  outbox.walk = undefined;
};

/** Without a database, the page takes over the notes of dead lives that had none either. */
const claimNotes = (outbox: Outbox) => {
  for (const { life, until, parcels } of readNotes(outbox)) {
    const isFree = life !== outbox.life && !leaseEnd(outbox, until);
    if (!isFree || parcels.some(({ stored }) => stored !== 'no')) continue;
    removeNote(outbox, life);
    for (const noted of parcels) takeIn(outbox, noted.key, noted, false);
  }
  endWalk(outbox);
};

const claimStored = async (outbox: Outbox, walk: Walk): Promise<void> => {
  const { life } = outbox;
  const claimed = await outbox.database!.run((store) => claimParcels(store, outbox, walk), true);
  for (const life of claimed.noted) removeNote(outbox, life);
  for (let i = 0; i < claimed.unreadable; i++) outbox.drop('unreadable');
  if (life !== outbox.life) return;
  for (const [key, stored] of claimed.parcels) takeIn(outbox, key, stored, true);
  walk.after = claimed.next;
  if (!walk.after) endWalk(outbox);
};

/**
 * Claims what it may of the next parcels that dead lives have left. Calls `done` at once when it has ended: a `flush()`
 * that settled in between would not have sent what was claimed.
 */
export const claim = async (outbox: Outbox, done?: () => unknown): Promise<void> => {
  const { life } = outbox;
  const wasMemory = isMemory(outbox);
  outbox.isClaiming = true;
  try {
    if (wasMemory) claimNotes(outbox);
    else await claimStored(outbox, outbox.walk!);
  } catch {
    // The next look begins anew. A database that has failed leaves the notes to be claimed.
    if (wasMemory === isMemory(outbox) && life === outbox.life) endWalk(outbox);
  }
  outbox.isClaiming = false;
  trim(outbox);
  done?.();
};
