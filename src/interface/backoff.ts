export const BASE_MS = 1_000;
export const CAP_MS = 300_000;
export const MAX_RETRY_AFTER_MS = 3_600_000;

/** Two headers come as one, with a comma between them; a date has one after its day of the week. */
const FIRST = /^\s*([a-z]+,)?[^,]*/i;

/** A wait that somebody has asked for, within what may be asked; 0 where it is no number. */
export const boundedWait = (ms: number): number =>
  Math.min(Math.max(ms || 0, 0), MAX_RETRY_AFTER_MS);

/** `Retry-After` as milliseconds from now: seconds or an HTTP date; 0 where there is none. */
export const parseRetryAfter = (value: string | null, now: number): number => {
  if (!value) return 0;
  const [first] = FIRST.exec(value)!;
  return boundedWait(/^\s*\d+\s*$/.test(first) ? Number(first) * 1_000 : Date.parse(first) - now);
};

/**
 * Full jitter after the n-th failure in a row (n from 0), with the server's wish as the floor. The jitter
 * comes on top of the floor, so that clients told the same time do not come back together.
 */
export const delayAfter = (failures: number, retryAfterMs: number, random: () => number): number =>
  retryAfterMs + random() * Math.min(CAP_MS, BASE_MS * 2 ** failures);
