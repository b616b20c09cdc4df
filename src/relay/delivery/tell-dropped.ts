import type { Bound, Tell } from '../hooks.js';
import type { Dropped } from '../queue/ports.js';

const EVERY_MS = 60_000;

const WORDS: Readonly<Record<Bound, string>> = {
  maxDead: 'of the oldest dead letters were deleted, because there were too many',
  maxDeadOfClient: 'of the oldest dead letters of one client were deleted, because it had too many',
  maxIds: 'of the oldest ids of known records were forgotten, because there were too many',
  maxIdsOfClient: 'of the oldest ids of one client were forgotten, because it had too many',
};

/** Counts what a store drops because a bound was reached, and tells of it once a minute at the most. */
export const createTellDropped = (tell: Tell, now: () => number) => {
  const untold = new Map<Bound, number>();
  const toldAt = new Map<Bound, number>();

  return (dropped: Dropped): void => {
    for (const [name, count] of Object.entries(dropped)) {
      if (!count) continue;
      const bound = name as Bound;
      tell.metric('dropped', count, { bound });
      const sum = (untold.get(bound) ?? 0) + count;
      const isTold = Math.abs(now() - (toldAt.get(bound) ?? -Infinity)) < EVERY_MS;
      untold.set(bound, isTold ? sum : 0);
      if (isTold) continue;
      toldAt.set(bound, now());
      tell.error({ kind: 'dropped', message: `${sum} ${WORDS[bound]} (\`${bound}\`)` });
    }
  };
};
