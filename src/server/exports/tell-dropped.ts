import type { Tell } from '../hooks.js';
import { monotonicNow } from '../time.js';

const EVERY_MS = 60_000;

/** Counts the oldest refused rows of a target that were deleted because there were too many, and reports them once a minute. */
export const createTellDropped = (tell: Tell, target: string) => {
  let untold = 0;
  let toldAt = -Infinity;
  return (count: number): void => {
    if (!count) return;
    tell.metric('dropped', count, { bound: target });
    untold += count;
    if (monotonicNow() - toldAt < EVERY_MS) return;
    const words = `of the oldest rows that ${target} has refused were forgotten, because there were too many`;
    tell.error({ kind: 'dropped', message: `${untold} ${words}` });
    untold = 0;
    toldAt = monotonicNow();
  };
};
