import { nanoid } from 'nanoid';
import type { QueuedRecord, Taken } from '../ports.js';
import { createWindow, type Window } from '../window.js';
import type { createQueueKeys } from './keys.js';
import { createScript, type RedisClient } from './client.js';
import { READ, RELEASE } from './scripts.js';

/**
 * Entries of one partition that a process reads ahead. When all of these must wait, those behind them wait,
 * too.
 */
const AHEAD = 256;

interface Effects {
  client: RedisClient;
  keys: ReturnType<typeof createQueueKeys>;
  now: () => number;
}

type Found = [
  partition: number,
  isFresh: number,
  ...entries: [entry: string, given: number, record: string][],
];

/** Reads the partitions on which this process holds a lease. */
export const createReader = ({ client, keys, now }: Effects) => {
  const { members, leases, streams, group } = keys;
  const read = createScript(client, READ);
  const release = createScript(client, RELEASE);
  /** The name of this process, for others and for the consumer group. */
  const me = nanoid();
  const windows = new Map<number, Window>();
  let turn = 0;
  /**
   * The answer of the last read was lost. Redis counts those entries as given to this process, which has not
   * seen them.
   */
  let isUnsure = false;

  const windowOf = (partition: number, isFresh: boolean): Window => {
    const known = windows.get(partition);
    if (known && !isFresh) return known;
    const window = createWindow(now);
    windows.set(partition, window);
    return window;
  };

  /** Forgets the partitions whose lease another process has by now. */
  const keepOnly = (held: ReadonlySet<number>): void => {
    for (const partition of windows.keys()) if (!held.has(partition)) windows.delete(partition);
  };

  const giveUp = async (partitions: readonly number[], leave: boolean): Promise<void> => {
    partitions.forEach((partition) => windows.delete(partition));
    await release({
      keys: [members, ...partitions.map((partition) => leases[partition - 1]!)],
      args: [me, leave ? 'leave' : ''],
    });
  };
  const quiet = () => [...windows].filter(([, window]) => window.isQuiet()).map(([key]) => key);

  const readOn = async (leaseMs: number): Promise<void> => {
    const rooms = streams.map((_, i) => Math.max(0, AHEAD - (windows.get(i + 1)?.size() ?? 0)));
    // Noted before the read: a record may be done before the answer comes, and must not be added again then.
    const known = new Set([...windows.values()].flatMap((window) => window.keys()));
    const pending = isUnsure ? 'pending' : '';
    isUnsure = true;
    const [share, ...found] = (await read({
      keys: [members, ...leases, ...streams],
      args: [group, me, leaseMs, pending, ...rooms],
    })) as [number, ...Found[]];
    isUnsure = false;
    keepOnly(new Set(found.map(([partition]) => partition)));
    for (const [partition, isFresh, ...entries] of found) {
      const window = windowOf(partition, isFresh === 1);
      for (const [entry, given, record] of entries) {
        const key = `${partition} ${entry}`;
        if (isFresh || !known.has(key)) window.add(key, JSON.parse(record) as QueuedRecord, given);
      }
    }
    // Other processes have joined: give them partitions that have nothing under way.
    const surplus = windows.size - share;
    if (surplus > 0) await giveUp(quiet().slice(0, surplus), false);
  };

  return {
    take: async (limit: number, visibilityMs: number): Promise<Taken[]> => {
      // Counted from before the lease is renewed, so that no record is given out for longer than the lease
      // lasts.
      const until = now() + visibilityMs;
      await readOn(Math.ceil(visibilityMs)); // Redis refuses a part of a millisecond
      const taken: Taken[] = [];
      const partitions = [...windows.keys()].sort((a, b) => a - b);
      turn++;
      partitions.forEach((_, i) => {
        const window = windows.get(partitions[(i + turn) % partitions.length]!)!;
        taken.push(...window.take(limit - taken.length, until));
      });
      return taken;
    },
    windowOf: (partition: number): Window | undefined => windows.get(partition),
    leave: () =>
      giveUp(
        [...windows.keys()].filter((key) => windows.get(key)!.isQuiet()),
        true,
      ),
  };
};
