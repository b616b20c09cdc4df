import type { Queue, QueuedRecord } from '../../../src/relay/queue/ports.js';
import { QueueFullError } from '../../../src/relay/queue/queue-full.js';
import { recordKeyOf } from '../../../src/relay/queue/record-key.js';
import { createWindow } from './window.js';

export interface DeadLetter {
  record: QueuedRecord;
  reason: string;
}

/** What a queue is, without a disk: the reference the others are held against. */
export const createMemoryQueue = (now: () => number = Date.now, maxWaiting = Infinity) => {
  const window = createWindow(now);
  const waiting = new Map<string, QueuedRecord>();
  const dead: DeadLetter[] = [];
  const remove = ({ receipt, record }: { receipt: string; record: QueuedRecord }) => {
    window.remove(receipt);
    return waiting.delete(recordKeyOf(record));
  };

  const queue: Queue = {
    put: async (records) => {
      const weights = [...waiting.values()].map((one) =>
        Math.ceil(JSON.stringify(one).length / 1_024),
      );
      if (weights.reduce((sum, one) => sum + one, 0) >= maxWaiting)
        throw new QueueFullError(maxWaiting);
      for (const record of records) {
        const key = recordKeyOf(record);
        if (waiting.has(key)) continue;
        waiting.set(key, record);
        window.add(key, record);
      }
    },
    take: async (limit, visibilityMs) => window.take(limit, now() + visibilityMs),
    done: async (taken) => taken.forEach(remove),
    retry: async (taken, delayMs) => taken.forEach(({ receipt }) => window.delay(receipt, delayMs)),
    bury: async (taken, reason) => {
      if (remove(taken)) dead.push({ record: taken.record, reason });
    },
    size: async () => {
      const [oldest] = waiting.values();
      return {
        waiting: waiting.size,
        dead: dead.length,
        ...(oldest && { oldest: oldest.at }),
      };
    },
  };
  return { ...queue, dead };
};
