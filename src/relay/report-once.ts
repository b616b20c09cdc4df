import type { Bound, Dropped, Tell } from './hooks.js';

/** Reports a trouble once, and again only after it is over, which is reported as well. */
export const createReportOnce = <Problem extends { kind: string }>(
  tell: {
    error: (problem: Problem) => void;
    recovery: (over: { kind: Problem['kind']; lastedMs: number }) => void;
  },
  now: () => number,
) => {
  let told: { kind: Problem['kind']; since: number } | undefined;
  return {
    /** `since`: when it began, if that was before now. */
    tell: (error: Problem, since = now()): void => {
      if (!told) tell.error(error);
      told ??= { kind: error.kind, since };
    },
    healed: (): void => {
      if (told) tell.recovery({ kind: told.kind, lastedMs: now() - told.since });
      told = undefined;
    },
    isTold: (): boolean => told !== undefined,
  };
};

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
