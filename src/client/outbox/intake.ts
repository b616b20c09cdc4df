import type { OutboxRecord } from '../types.js';
import { isOver, type Context } from './context.js';
import type { Ends } from './ends.js';
import type { NotedParcel } from './exit-note.js';
import {
  createEntry,
  createParcel,
  PARCEL_RECORDS,
  type Parcel,
  type ParcelKey,
} from './parcel.js';
import type { Stored } from './stored.js';
import type { Writer } from './writer.js';

interface Parts {
  writer: Pick<Writer, 'touch'>;
  ends: Pick<Ends, 'finish' | 'drop' | 'dropOld'>;
  /** There is one more. */
  onAdd: () => void;
}

/** How records come into this page's memory: from calls, from what it has claimed, and from notes. */
export const createIntake = (context: Context, { writer, ends, onAdd }: Parts) => {
  const { notes, limits, onUnknown, line, away, flying, known, holder } = context;
  /** What is made here is one page's, whichever of its lives makes it: its records stay in order. */
  const maker = holder();
  let order = 0;
  let made = 0;
  /** The parcel that records of this task go into. */
  let open: Parcel | undefined;

  const add = (record: OutboxRecord, isCall = false): void => {
    if (!open || open.state !== 'new' || open.entries.size >= PARCEL_RECORDS) {
      open = createParcel([record.at, maker, ++made]);
      line.insert(open);
      void writer.touch(open);
      // What follows in another task is written by another transaction.
      queueMicrotask(() => (open = undefined));
    }
    // Where this page has sent it in a former life, its answer is still awaited.
    const entry = flying.get(record.id) ?? createEntry(record, open, isCall ? ++order : 0);
    entry.parcel = open;
    line.add(entry);
    onAdd();
  };

  /** It may have arrived in a request of another page, or of a former life of this one, and a repeat would be stored twice. */
  const mayHaveArrived = (id: string, flight: readonly string[]): boolean =>
    !limits().resends && flight.includes(id);

  const takeInRecord = (record: OutboxRecord, parcel: Parcel, flight: readonly string[]): void => {
    const sent = flying.get(record.id);
    const entry = sent ?? createEntry(record, parcel);
    if (sent) {
      sent.parcel.entries.delete(sent);
      sent.parcel = parcel;
    }
    line.add(entry);
    away.count = Math.max(0, away.count - 1);
    away.bytes = Math.max(0, away.bytes - entry.size);
    if (sent) return;
    const fate = known.get(record.id);
    if (fate === 'ended') {
      known.delete(record.id);
      ends.finish(entry);
    } else if (!fate && mayHaveArrived(record.id, flight)) {
      ends.finish(entry);
      onUnknown(record);
    } else ends.dropOld(entry);
  };

  return {
    /** A call's record. */
    add: (record: OutboxRecord): void => add(record, true),
    /** The last call's place. */
    latest: (): number => order,
    /** A parcel that this page has claimed. */
    takeIn: (key: ParcelKey, { until, isNoted, flight, records }: Stored): void => {
      const parcel = createParcel(key, 'stored');
      Object.assign(parcel, { until, isNoted: !!isNoted });
      line.insert(parcel);
      for (const record of records) takeInRecord(record, parcel, flight);
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
        for (const { flight, records } of mine) {
          for (const record of records) {
            if (known.get(record.id) === 'ended') continue;
            if (mayHaveArrived(record.id, flight) && !flying.has(record.id)) onUnknown(record);
            else add(record);
          }
        }
      }
    },
  };
};

export type Intake = ReturnType<typeof createIntake>;
