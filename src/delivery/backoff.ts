export const BASE_MS = 1_000;
export const CAP_MS = 300_000;
export const MAX_RETRY_AFTER_MS = 3_600_000;

/** `Retry-After` as milliseconds from now: seconds or an HTTP date; 0 where there is none. */
export const parseRetryAfter = (value: string | null, now: number): number => {
  if (!value) return 0;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Math.min(Math.max(ms || 0, 0), MAX_RETRY_AFTER_MS);
};

/**
 * Full jitter after the n-th failure in a row (n from 0), with the server's wish as the floor. The jitter
 * comes on top of the floor, so that clients told the same time do not come back together.
 */
export const delayAfter = (failures: number, retryAfterMs: number, random: () => number): number =>
  retryAfterMs + random() * Math.min(CAP_MS, BASE_MS * 2 ** failures);
