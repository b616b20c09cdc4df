import { parseRetryAfter } from '../../interface/backoff.js';
import type { Answer, Verdict } from '../../interface/outcome.js';
import type { Attempt } from './sender.js';

/** What an answer means for its records, with what it says beside the verdict. */
export const attemptOf = (
  answer: Answer,
  verdict: Verdict,
  { now, problemOf }: { now: number; problemOf: (status: number) => string },
): Attempt => ({
  ...verdict,
  retryAfterMs: 'body' in answer ? parseRetryAfter(answer.retryAfter, now) : 0,
  wasLeft: 'wasLeft' in answer && answer.wasLeft,
  ...(verdict.outcome === 'blocked' && { problem: problemOf(verdict.status) }),
});
