import type { DropReason } from '../types.js';
import { isOver, type Context } from './context.js';
import { nameOf, type Entry, type Parcel } from './parcel.js';
import { isUnderWay, moveParcel, moveRecord } from './states.js';

interface Events {
  /** A parcel was let go, which anybody may claim when its time is over: it is time to look for such. */
  onLetGo: () => void;
  /** A record of this parcel, which is still this page's, has come to its end. */
  onFinish: (parcel: Parcel) => void;
}

/** How records come to their end, and how parcels leave this page's memory. */
export const createEnds = (context: Context, { onLetGo, onFinish }: Events) => {
  const { now, limits, onDrop, line, away, former, holder } = context;

  const part = (parcel: Parcel): void => {
    line.remove(parcel);
    moveParcel(parcel, 'part');
  };

  /** Leaves a parcel to whoever claims it. What waits in it stands in storage, and needs no copy here. */
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

  /** It stands in the database, and may be another page's by now. */
  const isLost = ({ state, until }: Parcel): boolean =>
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

  /** Drops what has grown too old; true where it has. */
  const dropOld = (entry: Entry): boolean => {
    const isOld = now() - entry.record.at > limits().maxAge;
    if (isOld) drop(entry, 'expired', 'older than maxAge');
    return isOld;
  };

  const isFull = (): boolean => line.isFull(limits(), away);

  return {
    part,
    letGo,
    /** Lets go of all that may be another page's by now. */
    partOver: (): void => line.parcels.filter(isLost).forEach(letGo),
    finish,
    drop,
    dropOld,
    /** There is more than `maxRecords` and `maxBytes` allow, with what waits in the database. */
    isFull,
    /** Drops the oldest events in memory until there is room, and identifies only where there is no event. */
    dropSurplus: (): void => {
      let surplus;
      while (isFull() && (surplus = line.surplus())) {
        drop(surplus, 'outbox-full', 'more than maxRecords or maxBytes');
      }
    },
    /** The records in memory, oldest first; what has grown too old is dropped. */
    *young(): Generator<Entry, undefined> {
      for (const entry of line.entries()) if (isUnderWay(entry) || !dropOld(entry)) yield entry;
    },
  };
};

export type Ends = ReturnType<typeof createEnds>;
