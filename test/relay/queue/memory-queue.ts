import {
  boundsOf,
  LONGEST_WAIT_MS,
  PATIENCE,
  QueueFullError,
  type Queue,
  type QueueBounds,
  type QueuedRecord,
} from '../../../src/relay/queue/ports.js';
import { lineOf, recordKeyOf } from '../../../src/relay/queue/record.js';

export interface DeadLetter {
  record: QueuedRecord;
  reason: string;
}

interface Entry {
  key: string;
  record: QueuedRecord;
  tries: number;
  failedAt: number | undefined;
  /** Nobody may take it before. */
  due: number;
  token: string | undefined;
}

const kibOf = (records: readonly QueuedRecord[]): number =>
  records.reduce((sum, one) => sum + Math.ceil(JSON.stringify(one).length / 1_024), 0);

/** What a queue is, without a disk: the reference the others are held against. */
export const createMemoryQueue = (now: () => number = Date.now, options: QueueBounds = {}) => {
  const bounds = boundsOf(options);
  const entries: Entry[] = [];
  const dead: DeadLetter[] = [];
  let made = 0;

  /** An identify of the line has to be done first. */
  const isBehind = ({ record }: Entry, index: number): boolean => {
    const line = lineOf(record);
    const first = entries.findIndex(
      (one) => line && one.record.type === 'identify' && lineOf(one.record) === line,
    );
    const isFree = record.type === 'event' && (entries[first]?.tries ?? 0) >= PATIENCE;
    return first >= 0 && first < index && !isFree;
  };
  const remove = ({ record }: { record: QueuedRecord }): boolean => {
    const index = entries.findIndex(({ key }) => key === recordKeyOf(record));
    return index >= 0 && entries.splice(index, 1).length > 0;
  };
  const ofClient = (records: readonly QueuedRecord[], client: string | undefined) =>
    records.filter((record) => record.client === client);

  const queue: Queue = {
    put: async (records) => {
      const client = records[0]?.client;
      const waiting = entries.map(({ record }) => record);
      if (kibOf(waiting) >= bounds.maxWaiting) throw new QueueFullError(bounds);
      if (client && kibOf(ofClient(waiting, client)) >= bounds.maxWaitingOfClient)
        throw new QueueFullError(bounds, true);
      for (const record of records) {
        const key = recordKeyOf(record);
        const entry = { key, record, tries: 0, failedAt: undefined, due: 0, token: undefined };
        if (!entries.some((one) => one.key === key)) entries.push(entry);
      }
    },
    take: async (limit, visibilityMs, { only } = {}) => {
      const token = `t${++made}`;
      const time = now();
      // Nobody waits for so long: the clock was set back.
      const longest = time + Math.max(visibilityMs, LONGEST_WAIT_MS);
      const isDue = ({ due }: Entry) => due <= time || due > longest;
      const free = entries.filter((one, i) => isDue(one) && !isBehind(one, i));
      const fresh = free.filter(({ due }) => due === 0);
      const again = free.filter(({ due }) => due > 0).sort((a, b) => a.due - b.due);
      const isFresh = only === 'fresh' || (fresh.length > 0 && only !== 'failed');
      const round = isFresh ? fresh : again;
      return round.slice(0, limit).map((entry) => {
        if (entry.token) entry.tries++;
        entry.token = token;
        entry.due = time + visibilityMs;
        const { record, tries, failedAt } = entry;
        const failingMs = failedAt === undefined ? 0 : time - failedAt;
        return { receipt: token, record, attempts: tries + 1, failingMs };
      });
    },
    done: async (taken) => taken.forEach(remove),
    giveBack: async (back) => {
      for (const { taken, delayMs, isTried } of back) {
        const key = recordKeyOf(taken.record);
        const entry = entries.find((one) => one.key === key && one.token === taken.receipt);
        if (!entry) continue;
        entry.token = undefined;
        if (isTried) entry.tries++;
        if (isTried) entry.failedAt ??= now();
        entry.due = delayMs > 0 ? now() + delayMs : entry.tries > 0 ? now() : 0;
      }
    },
    bury: async (taken, reason) => {
      const gone = { maxDead: 0, maxDeadOfClient: 0 };
      if (!remove(taken)) return gone;
      dead.push({ record: taken.record, reason });
      const { client } = taken.record;
      const deadOf = (whose?: string) =>
        dead.filter(({ record }) => !whose || record.client === whose);
      const kib = (letters: readonly DeadLetter[]) => kibOf(letters.map(({ record }) => record));
      for (; client && kib(deadOf(client)) > bounds.maxDeadOfClient; gone.maxDeadOfClient++)
        dead.splice(dead.indexOf(deadOf(client)[0]!), 1);
      for (; kib(dead) > bounds.maxDead; gone.maxDead++) dead.shift();
      return gone;
    },
    tryNow: async () => {
      for (const entry of entries) if (!entry.token) entry.due = Math.min(entry.due, now());
    },
    size: async () => ({
      waiting: entries.length,
      dead: dead.length,
      ...(entries[0] && { oldest: Math.min(...entries.map(({ record }) => record.at)) }),
    }),
  };
  return { ...queue, dead };
};
