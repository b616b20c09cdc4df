import type { Tell } from './hooks.js';
import { monotonicNow } from './time.js';

const EVERY_MS = 60_000;

/** Counts rows that targets have lost, and reports at most once a minute how many, after these words. */
export const createTellLost = (tell: Tell, words: string, now: () => number) => {
  const untold = new Map<string, number>();
  let toldAt = -Infinity;
  return {
    add: (target: string, rows: number): void =>
      void untold.set(target, (untold.get(target) ?? 0) + rows),
    tell: (): void => {
      // The clock may have been set back.
      if (!untold.size || Math.abs(now() - toldAt) < EVERY_MS) return;
      const lost = [...untold].map(([target, rows]) => `${rows} to ${target}`).join(', ');
      tell.error({ kind: 'dropped', message: `${words}: ${lost}` });
      untold.clear();
      toldAt = now();
    },
  };
};

const FORGOTTEN =
  'refused rows were forgotten, the oldest first, because a target has too many of them';

/** Reports rows that a target has refused and that were deleted because there were too many. */
export const createTellForgotten = (tell: Tell, target: string) => {
  const lost = createTellLost(tell, FORGOTTEN, monotonicNow);
  return (rows: number): void => {
    if (!rows) return;
    tell.metric('dropped', rows, { bound: target });
    lost.add(target, rows);
    lost.tell();
  };
};
