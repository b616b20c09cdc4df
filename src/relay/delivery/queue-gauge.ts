import type { Tell } from '../hooks.js';
import { inTime } from '../in-time.js';
import type { Queue, QueueSize } from '../queue/ports.js';

const EVERY_MS = 10_000;

/** Reports every 10 seconds how full the queue is, if the queue can say. */
export const createQueueGauge = (queue: Queue, now: () => number, tell: Tell) => {
  let measuredAt = -Infinity;
  let size: QueueSize | undefined;

  return {
    measure: async (): Promise<void> => {
      if (!queue.size || now() - measuredAt < EVERY_MS) return;
      measuredAt = now();
      size = await inTime(EVERY_MS, () => queue.size!());
      const { waiting, dead, oldest } = size;
      tell.metric('queue_waiting', waiting);
      tell.metric('queue_dead', dead);
      tell.metric('queue_oldest_ms', oldest === undefined ? 0 : Math.max(0, now() - oldest));
    },
    /** What was measured last. */
    last: (): QueueSize | undefined => size,
  };
};
