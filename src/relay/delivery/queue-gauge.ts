import type { Tell } from '../hooks.js';
import { inTime } from '../in-time.js';
import type { Queue, QueueSize } from '../queue/ports.js';

export const MEASURE_EVERY_MS = 10_000;

/** Reports how full the queue is, if the queue can say. */
export const createQueueGauge = (queue: Queue, now: () => number, tell: Tell) => {
  let size: QueueSize | undefined;

  return {
    measure: async (): Promise<void> => {
      if (!queue.size) return;
      size = await inTime(MEASURE_EVERY_MS, () => queue.size!());
      const { waiting, dead, oldest } = size;
      tell.metric('queue_waiting', waiting);
      tell.metric('queue_dead', dead);
      tell.metric('queue_oldest_ms', oldest === undefined ? 0 : Math.max(0, now() - oldest));
    },
    /** What was measured last. */
    last: (): QueueSize | undefined => size,
  };
};
