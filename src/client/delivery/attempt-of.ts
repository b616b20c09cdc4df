import { parseRetryAfter } from '../../interface/backoff.js';
import type { Answer, Verdict } from '../../interface/outcome.js';
import type { Attempt } from './sender.js';

/** Somebody has refused it, and there is something to say about that. */
export const isRefusal = ({ outcome }: Verdict): boolean =>
  outcome === 'blocked' || outcome === 'rejected';

/** What an answer means for its records, with what it says beside the verdict. */
export const attemptOf = (
  answer: Answer,
  verdict: Verdict,
  { now, problemOf }: { now: number; problemOf: (verdict: Verdict) => string },
): Attempt => ({
  ...verdict,
  retryAfterMs: 'body' in answer ? parseRetryAfter(answer.retryAfter, now) : 0,
  wasLeft: 'wasLeft' in answer && answer.wasLeft,
  ...(isRefusal(verdict) && { problem: problemOf(verdict) }),
});
