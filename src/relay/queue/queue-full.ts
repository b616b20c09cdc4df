/** Thrown when the queue is full. None of the records was put. */
export class QueueFullError extends Error {
  override name = 'QueueFullError' as const;

  constructor(maxWaiting: number) {
    super(`the queue is full: \`maxWaiting\` is ${maxWaiting} records of up to a KiB each`);
  }
}

/** Compares names: each store is bundled apart from the relay, with its own copy of the class. */
export const isQueueFull = (error: unknown): boolean =>
  error instanceof Error && error.name === 'QueueFullError';

/** Records that may wait in a queue, unless its options say otherwise. */
export const MAX_WAITING = 1_000_000;
