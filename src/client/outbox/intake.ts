import type { OutboxRecord } from '../types.js';
import { isOver, type Context } from './context.js';
import type { Ends } from './ends.js';
import { createEntry, createParcel, idOf, nameOf, PARCEL_RECORDS, type Parcel } from './parcel.js';
import { isUnderWay } from './states.js';
import type { Stored } from './stored.js';
import type { Writer } from './writer.js';

type Written = Pick<Stored, 'flight' | 'records'>;

/** How records come into this page's memory: from calls, from claimed parcels, and from exit notes. */
export const createIntake = (context: Context, ends: Ends, writer: Writer) => {
  const { notes, limits, onUnknown, line, away, former, holder } = context;
  /** All lives of this page make parcels under one name, so that a user's records stay in order. */
  const maker = holder();
  let order = 0;
  let made = 0;
  /** The parcel for the records of this task. */
  let open: Parcel | undefined;

  const add = (record: OutboxRecord): void => {
    if (!open || open.state !== 'new' || open.entries.size >= PARCEL_RECORDS) {
      open = createParcel([record.at, maker, ++made]);
      line.insert(open);
      void writer.write(open);
      // Calls in another task are written by another transaction.
      queueMicrotask(() => (open = undefined));
    }
    line.add(createEntry(record, open, ++order));
  };

  /**
   * Takes a parcel of the holder `by` into memory, with what `by` wrote of it. If this page had the parcel before
   * and let it go, what the page knows of the records counts more.
   */
  const takeIn = (parcel: Parcel, { flight, records }: Written, by: string): void => {
    const name = nameOf(parcel.key);
    const known = former.get(name);
    former.delete(name);
    line.insert(parcel);
    const underWay = new Map([...(known?.entries ?? [])].map((entry) => [idOf(entry), entry]));
    const entries = records.map((record) => underWay.get(record.id) ?? createEntry(record, parcel));
    for (const entry of entries) {
      entry.parcel = parcel;
      line.add(entry);
      away.count = Math.max(0, away.count - 1);
      away.bytes = Math.max(0, away.bytes - entry.size);
    }
    // Another page may have sent it, and the service would store a repeat as another record.
    const isDoubtful = (id: string) =>
      !limits().resends && known?.leftBy !== by && flight.includes(id);
    for (const entry of entries) {
      if (isUnderWay(entry)) continue;
      if (known?.done.has(idOf(entry))) ends.finish(entry);
      else if (isDoubtful(idOf(entry))) {
        ends.finish(entry);
        onUnknown(entry.record);
      } else ends.dropOld(entry);
    }
  };

  return {
    /** Takes in the record of a call. */
    add,
    /** The `order` of the last call's record. */
    latest: (): number => order,
    takeIn,
    /** Without a database the page takes from exit notes what was never given to a database, and nothing else. */
    takeInNoted: (): void => {
      for (const note of notes.all()) {
        if (!isOver(context, note.until)) continue;
        const mine = note.parcels.filter(({ isNew, key }) => isNew && !line.has(key));
        if (mine.length === 0) continue;
        notes.save({ ...note, parcels: note.parcels.filter((noted) => !mine.includes(noted)) });
        for (const noted of mine) {
          const parcel = createParcel(noted.key);
          takeIn(parcel, noted, note.holder);
          void writer.write(parcel);
        }
      }
    },
  };
};

export type Intake = ReturnType<typeof createIntake>;
