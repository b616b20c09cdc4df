import type { OutboxRecord } from '../types.js';
import { isOver, type Context } from './context.js';
import type { Ends } from './ends.js';
import type { NotedParcel } from './exit-note.js';
import {
  createEntry,
  createParcel,
  idOf,
  nameOf,
  PARCEL_RECORDS,
  type Parcel,
  type ParcelKey,
} from './parcel.js';
import { isUnderWay } from './states.js';
import type { Stored } from './stored.js';
import type { Writer } from './writer.js';

type Left = Pick<Stored, 'flight' | 'records'>;

interface Parts {
  writer: Writer;
  ends: Ends;
}

/** How records come into this page's memory: from calls, from what it has claimed, and from notes. */
export const createIntake = (context: Context, { writer, ends }: Parts) => {
  const { notes, limits, onUnknown, line, away, former, holder } = context;
  /** What is made here is one page's, whichever of its lives makes it: its records stay in order. */
  const maker = holder();
  let order = 0;
  let made = 0;
  /** The parcel that records of this task go into. */
  let open: Parcel | undefined;

  const add = (record: OutboxRecord): void => {
    if (!open || open.state !== 'new' || open.entries.size >= PARCEL_RECORDS) {
      open = createParcel([record.at, maker, ++made]);
      line.insert(open);
      void writer.touch(open);
      // What follows in another task is written by another transaction.
      queueMicrotask(() => (open = undefined));
    }
    line.add(createEntry(record, open, ++order));
  };

  /** Takes in a parcel of the holder `by`. What this page knows of its records counts; if it knows nothing, what `by` wrote. */
  const fill = (parcel: Parcel, { flight, records }: Left, by: string): void => {
    const name = nameOf(parcel.key);
    const { entries: sent, done, leftBy } = former.get(name) ?? createParcel(parcel.key);
    former.delete(name);
    line.insert(parcel);
    const underWay = new Map([...sent].map((entry) => [idOf(entry), entry]));
    const entries = records.map((record) => underWay.get(record.id) ?? createEntry(record, parcel));
    for (const entry of entries) {
      entry.parcel = parcel;
      line.add(entry);
      away.count = Math.max(0, away.count - 1);
      away.bytes = Math.max(0, away.bytes - entry.size);
    }
    // It may have arrived in a request that nobody here knows, and a repeat would be stored twice.
    const isDoubtful = (id: string) => !limits().resends && leftBy !== by && flight.includes(id);
    for (const entry of entries) {
      if (isUnderWay(entry)) continue;
      if (done.has(idOf(entry))) ends.finish(entry);
      else if (isDoubtful(idOf(entry))) {
        ends.finish(entry);
        onUnknown(entry.record);
      } else ends.dropOld(entry);
    }
  };

  return {
    /** A call's record. */
    add,
    /** The last call's place. */
    latest: (): number => order,
    /** A parcel that this page has claimed. */
    takeIn: (key: ParcelKey, stored: Stored, by: string): void => {
      const { until, isNoted = false } = stored;
      fill({ ...createParcel(key, 'stored'), until, isNoted }, stored, by);
    },
    /** Without a database, what other pages have noted, and never gave to one, is all there is. */
    absorbNotes: (): void => {
      for (const note of notes.all()) {
        if (!isOver(context, note.until)) continue;
        const isForMe = ({ isNew, key }: NotedParcel) => isNew && !line.has(key);
        const mine = note.parcels.filter(isForMe);
        const rest = note.parcels.filter((noted) => !isForMe(noted));
        if (mine.length === 0) continue;
        notes.save({ ...note, parcels: rest });
        for (const noted of mine) {
          const parcel = createParcel(noted.key);
          fill(parcel, noted, note.holder);
          void writer.touch(parcel);
        }
      }
    },
  };
};

export type Intake = ReturnType<typeof createIntake>;
