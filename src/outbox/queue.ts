import type { Entry, Hold } from './entry.js';

interface Caps {
  maxRecords: number;
  maxBytes: number;
}

/** The records in memory: adopted ones first, then this page's own, each in the order of the calls. */
export const createQueue = () => {
  const entries: Entry[] = [];
  let bytes = 0;
  let order = 0;

  const count = ({ hold, size }: Entry, sign: 1 | -1) => {
    hold.count += sign;
    hold.bytes += sign * size;
    bytes += sign * size;
  };

  const queue = {
    entries,
    of: (hold: Hold): Entry[] => entries.filter((entry) => entry.hold === hold),
    /** How many adopted ones wait or are in flight. */
    adopted: (): number => {
      const firstOwn = entries.findIndex(({ hold }) => hold.own);
      return firstOwn < 0 ? entries.length : firstOwn;
    },
    /** Order of the latest one. */
    latest: (): number => order,
    /** What is no call comes from another owner, and stands before the calls made after it. */
    push: (entry: Entry, isCall: boolean): void => {
      let at = entries.length;
      const isLater = ({ hold, order, record }: Entry) =>
        hold.own && (entry.order ? order > entry.order : record.at > entry.record.at);
      if (isCall) entry.order = ++order;
      else while (at > 0 && isLater(entries[at - 1]!)) at--;
      entries.splice(at, 0, entry);
      count(entry, 1);
    },
    /** Puts adopted records before this page's own. */
    insert: (batch: Entry[]): void => {
      entries.splice(queue.adopted(), 0, ...batch);
      for (const entry of batch) count(entry, 1);
    },
    take: (entry: Entry): void => {
      const at = entries.indexOf(entry);
      if (at < 0) return;
      entries.splice(at, 1);
      count(entry, -1);
    },
    /** What has to go to keep the caps: the oldest event, or the oldest identify where there is none. */
    surplus: ({ maxRecords, maxBytes }: Caps): Entry | undefined => {
      if (entries.length <= maxRecords && bytes <= maxBytes) return undefined;
      const isWaiting = ({ state }: Entry) => state === 'waiting';
      return (
        entries.find((entry) => isWaiting(entry) && entry.record.type === 'event') ??
        entries.find(isWaiting)
      );
    },
  };
  return queue;
};

export type Queue = ReturnType<typeof createQueue>;
