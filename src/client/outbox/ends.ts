import type { DropReason } from '../types.js';
import { isOver, type Context } from './context.js';
import { nameOf, type Entry, type Parcel } from './parcel.js';
import { isUnderWay, moveParcel, moveRecord } from './states.js';

interface Events {
  /** A parcel was let go: the next look at the database may find it again. */
  onLetGo: () => void;
  /** A record of the parcel has come to its end. */
  onFinish: (parcel: Parcel) => void;
}

/** How records come to their end, and how parcels leave this page's memory. */
export const createEnds = (context: Context, { onLetGo, onFinish }: Events) => {
  const { now, limits, onDrop, line, away, former, holder } = context;

  const part = (parcel: Parcel): void => {
    line.remove(parcel);
    moveParcel(parcel, 'part');
  };

  /** Leaves a stored parcel to whoever claims it, and removes the records that wait in it from memory. */
  const letGo = (parcel: Parcel): void => {
    part(parcel);
    for (const entry of parcel.entries) {
      if (isUnderWay(entry)) continue;
      parcel.entries.delete(entry);
      away.count++;
      away.bytes += entry.size;
    }
    parcel.leftBy = holder();
    former.set(nameOf(parcel.key), parcel);
    onLetGo();
  };

  /** The parcel is stored, and another page may have claimed it. */
  const isOverdue = ({ state, until }: Parcel): boolean =>
    state === 'stored' && isOver(context, until);

  const finish = (entry: Entry): void => {
    moveRecord(entry, 'finish');
    const { parcel, record } = entry;
    line.take(entry);
    if (parcel.state === 'new' && parcel.entries.size === 0) part(parcel);
    else parcel.done.add(record.id);
    onFinish(parcel);
  };

  const drop = (entry: Entry, reason: DropReason, message: string): void => {
    finish(entry);
    onDrop(entry.record, reason, message);
  };

  /** Drops a record that is older than `maxAge`. True if it was. */
  const dropOld = (entry: Entry): boolean => {
    const isOld = now() - entry.record.at > limits().maxAge;
    if (isOld) drop(entry, 'expired', 'older than maxAge');
    return isOld;
  };

  const isFull = (): boolean => {
    const { maxRecords, maxBytes } = limits();
    return line.count() + away.count > maxRecords || line.bytes() + away.bytes > maxBytes;
  };

  return {
    part,
    letGo,
    /** Lets go of all parcels that another page may have claimed. */
    letGoOverdue: (): void => line.parcels.filter(isOverdue).forEach(letGo),
    finish,
    drop,
    dropOld,
    /** Whether more waits, here and in the database, than `maxRecords` and `maxBytes` allow. */
    isFull,
    /** Drops the oldest events in memory until there is room, and identifies only where there is no event. */
    dropSurplus: (): void => {
      let surplus;
      while (isFull() && (surplus = line.surplus())) {
        drop(surplus, 'outbox-full', 'more than maxRecords or maxBytes');
      }
    },
    /** The records in memory, oldest first. Those older than `maxAge` are dropped on the way. */
    *young(): Generator<Entry, undefined> {
      for (const entry of line.entries()) if (isUnderWay(entry) || !dropOld(entry)) yield entry;
    },
  };
};

export type Ends = ReturnType<typeof createEnds>;
