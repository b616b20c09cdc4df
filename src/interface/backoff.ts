/** The longest wait after the first failure. It doubles with each further one. */
export const BASE_MS = 1_000;
/** No wait of our own is longer. */
export const CAP_MS = 300_000;
/** No wait that somebody asks for is longer. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/** The first of two headers, which come as one with a comma between them. A date has a comma after its weekday. */
const FIRST = /^\s*([a-z]+,)?[^,]*/i;

/** A wait that somebody has asked for, within its limits; 0 if it is no number. */
export const boundedWait = (ms: number): number =>
  Math.min(Math.max(ms || 0, 0), MAX_RETRY_AFTER_MS);

/** Reads `Retry-After`, seconds or an HTTP date, as milliseconds from now; 0 if there is none. */
export const parseRetryAfter = (value: string | null, now: number): number => {
  if (!value) return 0;
  const [first] = FIRST.exec(value)!;
  return boundedWait(/^\s*\d+\s*$/.test(first) ? Number(first) * 1_000 : Date.parse(first) - now);
};

/**
 * The wait after so many earlier failures in a row: a random part of a time that doubles each time (full jitter). It
 * comes on top of what the server has asked for, so that clients with the same answer do not come back together.
 */
export const delayAfter = (failures: number, retryAfterMs: number, random: () => number): number =>
  retryAfterMs + random() * Math.min(CAP_MS, BASE_MS * 2 ** failures);
