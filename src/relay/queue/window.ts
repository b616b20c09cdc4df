import { laneOf } from './lane.js';
import type { QueuedRecord, Taken } from './ports.js';

interface Entry {
  lane: string;
  record: QueuedRecord;
  attempts: number;
  /** Nobody may take it before this time: it is taken, or was given back with a delay. */
  until: number;
}

/**
 * A receipt holds the number of the attempt. So one from an attempt whose time is over can be told from the
 * current one.
 */
const receiptOf = (key: string, attempts: number): string => `${attempts} ${key}`;
export const keyOf = (receipt: string): string => receipt.slice(receipt.indexOf(' ') + 1);

/**
 * Records in the order in which they were put. While one record of a lane is taken or waits for its time, no
 * record of that lane can be taken.
 */
export const createWindow = (now: () => number) => {
  const entries = new Map<string, Entry>();

  const present = (receipt: string): Entry | undefined => {
    const entry = entries.get(keyOf(receipt));
    return entry && receiptOf(keyOf(receipt), entry.attempts) === receipt ? entry : undefined;
  };

  const busyLanes = (time: number): Set<string> => {
    const busy = new Set<string>();
    for (const { lane, until } of entries.values()) if (until > time) busy.add(lane);
    return busy;
  };

  return {
    size: (): number => entries.size,
    keys: (): string[] => [...entries.keys()],
    /** `attempts`: how often the record may have been taken by another process before. */
    add: (key: string, record: QueuedRecord, attempts = 0): void => {
      entries.set(key, { lane: laneOf(record), record, attempts, until: 0 });
    },
    take: (limit: number, until: number): Taken[] => {
      const time = now();
      const busy = busyLanes(time);
      const taken: Taken[] = [];
      for (const [key, entry] of entries) {
        if (taken.length >= limit) break;
        if (busy.has(entry.lane)) continue;
        entry.until = until;
        entry.attempts++;
        const { record, attempts } = entry;
        taken.push({ receipt: receiptOf(key, attempts), record, attempts });
      }
      return taken;
    },
    remove: (receipt: string): void => void entries.delete(keyOf(receipt)),
    delay: (receipt: string, until: number): void => {
      const entry = present(receipt);
      if (entry) entry.until = until;
    },
    /** No record is taken, and none waits for its time. */
    isQuiet: (): boolean => busyLanes(now()).size === 0,
  };
};

export type Window = ReturnType<typeof createWindow>;
