import { laneOf } from '../../../src/relay/queue/lane.js';
import type { QueuedRecord, Taken } from '../../../src/relay/queue/ports.js';

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
const keyOf = (receipt: string): string => receipt.slice(receipt.indexOf(' ') + 1);

/**
 * Records in the order in which they were put, those of lanes that begin with a failed one last. While one record of a lane is taken or waits for its time, no
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

  /** Entries of lanes that are free. A lane counts by the attempts of its first record. */
  const inOrder = (busy: ReadonlySet<string>): [string, Entry][] => {
    const rank = new Map<string, number>();
    const free = [...entries].filter(([, { lane }]) => !busy.has(lane));
    for (const [, { lane, attempts }] of free) if (!rank.has(lane)) rank.set(lane, attempts);
    return free.sort(([, a], [, b]) => rank.get(a.lane)! - rank.get(b.lane)!);
  };

  return {
    add: (key: string, record: QueuedRecord): void => {
      entries.set(key, { lane: laneOf(record), record, attempts: 0, until: 0 });
    },
    take: (limit: number, until: number): Taken[] => {
      const time = now();
      const busy = busyLanes(time);
      const taken: Taken[] = [];
      for (const [key, entry] of inOrder(busy)) {
        if (taken.length >= limit) break;
        entry.until = until;
        entry.attempts++;
        const { record, attempts } = entry;
        taken.push({ receipt: receiptOf(key, attempts), record, attempts });
      }
      return taken;
    },
    remove: (receipt: string): void => void entries.delete(keyOf(receipt)),
    delay: (receipt: string, delayMs: number): void => {
      const entry = present(receipt);
      if (!entry) return;
      entry.until = now() + delayMs;
      if (!delayMs) entry.attempts--;
    },
  };
};
