import type { Tell } from '../hooks.js';
import { inTime } from '../in-time.js';
import type { Queue } from '../queue/ports.js';

const EVERY_MS = 10_000;

/** Reports every 10 seconds how full the queue is, if the queue can say. */
export const createQueueGauge = (queue: Queue, now: () => number, tell: Tell) => {
  let measuredAt = -Infinity;

  return async (): Promise<void> => {
    if (!queue.size || now() - measuredAt < EVERY_MS) return;
    measuredAt = now();
    const { waiting, dead, oldest } = await inTime(EVERY_MS, () => queue.size!());
    tell.metric('queue_waiting', waiting);
    tell.metric('queue_dead', dead);
    tell.metric('queue_oldest_ms', oldest === undefined ? 0 : Math.max(0, now() - oldest));
  };
};
