/** The queue holds as many records as it may: nothing of what was put is in it. */
export class QueueFullError extends Error {
  override name = 'QueueFullError' as const;

  constructor(maxWaiting: number) {
    super(`${maxWaiting} records wait in the queue (\`maxWaiting\`): it takes no more`);
  }
}

/** By its name: the engines are bundled apart from the relay, each with a class of its own. */
export const isQueueFull = (error: unknown): boolean =>
  error instanceof Error && error.name === 'QueueFullError';

/** Records that may wait in a queue, unless its options say otherwise. */
export const MAX_WAITING = 1_000_000;
