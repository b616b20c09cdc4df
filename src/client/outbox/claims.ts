import { ahead } from '../../interface/backoff.js';
import { isHidden, isLoading } from '../life.js';
import { claimParcels, type Claimed, type Excess, type Scan } from './claim.js';
import { leaseEnd } from './lease.js';
import { addParcels } from './memory.js';
import { readNotes, removeNote, type NotedParcel } from './note.js';
import { drop, lose, trim, type Outbox } from './outbox.js';
import type { Entry } from './parcel.js';
import { now } from '../page.js';
import { isBroken } from './store.js';
import { renewLease, save, storeNow, unconfirmed } from './writer.js';

/** After its start the page looks again this soon: the page before it may still have been writing. */
const SOON_MS = 5_000;
/** It looks at least this often while it lives. */
const LOOK_MS = 30_000;

const startScan = (excess?: Excess): Scan => ({
  taken: new Map(),
  elsewhere: 0,
  bytes: 0,
  soonest: Infinity,
  excess,
});

/** Takes over what dead lives have left, one scan of all that is stored after the other. */
export const createClaims = (outbox: Outbox) => {
  const { name } = outbox;
  /** When the page looks again. */
  let lookAt = 0;
  /** The scan that goes on with the next claim, if any. */
  let scan: Scan | undefined = startScan();
  /**
   * The last complete scan of this life. Before the first one has ended, own records of a known user are not sent,
   * because older ones may still be stored.
   */
  let lastScan: Scan | undefined;
  /**
   * While the gate was closed, parcels were left unclaimed. Records of a known user wait for these, even as the page is
   * left.
   */
  let hasLeft: boolean | undefined;

  const isTooMuch = () => scan?.excess?.some((left) => left > 0);

  const restart = () => {
    lastScan = hasLeft = undefined;
    scan = startScan();
  };
  const endScan = () => {
    lastScan = scan;
    scan = undefined;
  };

  /** Takes in what was claimed, but for the events that were too many. */
  const takeIn = (claimed: readonly NotedParcel[]): void => {
    // A new life began while this page was writing these parcels, which it still has in memory, and newer.
    const own = new Set(unconfirmed(outbox).map(({ key }) => `${key}`));
    const fresh = claimed.filter(({ key }) => !own.has(`${key}`));
    addParcels(outbox, fresh).forEach((parcel, i) => {
      const { flight } = fresh[i]!;
      for (const entry of [...parcel.entries]) {
        const { id, type } = entry.record;
        if (flight.includes(id)) lose(outbox, entry);
        else if (isTooMuch() && type === 'event') {
          scan!.excess![0]--;
          scan!.excess![1] -= entry.bytes;
          drop(outbox, entry, 'outbox-full');
        }
      }
      if (parcel.stored === 'no') save(outbox, parcel);
    });
  };

  /** Without a database, the page takes over the notes of dead lives that had none either. */
  const claimNotes = () => {
    for (const { life, until, list } of readNotes(name)) {
      const isFree = life !== outbox.life && !leaseEnd(until);
      if (!isFree || list.some(({ stored }) => stored !== 'no')) continue;
      removeNote(name, life);
      takeIn(list);
    }
    endScan();
  };

  const claimStored = async (current: Scan, isClosed?: boolean): Promise<void> => {
    const { life } = outbox;
    const claimed = await outbox.database!.run<Claimed | false>(
      // If the page was left before the database was open, its new life claims anew.
      (store) =>
        life === outbox.life && claimParcels(store, outbox, current, isClosed && !isTooMuch()),
      true,
    );
    if (!claimed) return;
    for (const life of claimed.noted) removeNote(name, life);
    if (life !== outbox.life) return;
    if (claimed.parcels.length) outbox.until = claimed.until;
    takeIn(claimed.parcels);
    hasLeft ||= claimed.hasLeft;
    if (!current.after) endScan();
  };

  return {
    /**
     * If it is time, renews the lease and begins a scan for what dead lives have left. Returns the time of the next
     * look: when another life's lease ends, but 5 to 30 seconds from now; 5 while the page loads.
     */
    look: (): number => {
      const time = now();
      if (ahead(lookAt, time, LOOK_MS)) return lookAt;
      renewLease(outbox);
      if (!outbox.isClaiming) scan = startScan(); // a claim that is under way reads what is stored anyway
      const soonest = Math.max(lastScan?.soonest ?? 0, time + SOON_MS);
      // While the page loads, its lease is short.
      return (lookAt = Math.min(soonest, time + (isLoading() ? SOON_MS : LOOK_MS)));
    },
    /** Makes the next look come at once. */
    hurry: (): void => {
      lookAt = 0;
    },
    /**
     * Claims what it may of the next parcels that dead lives have left, if there may be more. Calls `done` in the task in
     * which it ends: a `flush()` that settled in between would not have sent what was claimed. While the gate `isClosed`,
     * it only counts them, and trims those that are too many.
     */
    claim: async (done?: () => unknown, isClosed?: boolean): Promise<void> => {
      if (hasLeft && !isClosed) restart();
      if (hasLeft && !scan) {
        const { maxRecords, maxBytes } = outbox.settings();
        scan = startScan([
          outbox.count + lastScan!.elsewhere - maxRecords,
          outbox.bytes + lastScan!.bytes - maxBytes,
        ]);
        if (isTooMuch()) hasLeft = false;
        else scan = undefined;
      }
      if (!scan || outbox.isClaiming) return;
      const { life } = outbox;
      const wasBroken = isBroken(outbox);
      outbox.isClaiming = true;
      try {
        if (wasBroken) claimNotes();
        else await claimStored(scan, isClosed);
      } catch {
        // The next look begins anew. Where the database has just failed, the notes are still to be claimed.
        if (wasBroken === isBroken(outbox) && life === outbox.life) endScan();
      }
      outbox.isClaiming = false;
      trim(outbox);
      if (isHidden()) storeNow(outbox); // or the next page would count anew what this one has dropped
      done?.();
    },
    /** Whether a record waits for older ones of its user, which may not be read yet, or which another page holds. */
    mustWait: ({ record, parcel, order }: Entry, isLeaving: boolean): boolean =>
      !!record.user &&
      (hasLeft ||
        (lastScan ? lastScan.taken.get(parcel.key[1])! < parcel.key[2] : order > 0 && !isLeaving)),
    /** Records that the last complete scan found and this page does not hold. */
    elsewhere: (): number | undefined => lastScan?.elsewhere,
    /** A new life begins: it scans all that is stored. */
    restart,
  };
};
