/** The longest wait after the first failure. It doubles with each further one. */
export const BASE_MS = 1_000;
/** No wait of our own is longer. */
export const CAP_MS = 300_000;
/** No wait that somebody asks for is longer. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/** A wait that somebody has asked for, within its limits; 0 if it is no number. */
export const boundedWait = (ms: number): number =>
  Math.min(Math.max(ms || 0, 0), MAX_RETRY_AFTER_MS);

/** Reads `Retry-After`, seconds or an HTTP date, as milliseconds from now; 0 if there is none. */
export const parseRetryAfter = (value: string | null | undefined, now: number): number => {
  const text = `${value}`;
  // Two headers come as one, with a comma between them: the first counts.
  const isSeconds = /^\s*\d+\s*(,|$)/.test(text);
  return boundedWait(
    isSeconds ? parseInt(text, 10) * 1_000 : Date.parse(text.replace(/GMT.*/, 'GMT')) - now,
  );
};

/**
 * The wait after a failure, by how long the trouble has lasted: half as long, less up to half of that at random. So
 * whoever waits learns that the trouble is over at the latest half as long after it as it has lasted. A wait that the
 * server has asked for is a floor; up to half of it comes on top, so that clients with the same answer do not come
 * back together.
 */
export const waitAfter = (
  troubleMs: number,
  retryAfterMs: number,
  random: () => number,
): number => {
  const own = Math.min(CAP_MS, Math.max(BASE_MS, troubleMs / 2));
  const spread = Math.min(CAP_MS, retryAfterMs / 2);
  return Math.max(own * (0.5 + random() / 2), retryAfterMs + random() * spread);
};

/**
 * The wait after so many earlier failures in a row: a random part of a time that doubles each time (full jitter). It
 * comes on top of what the server has asked for, so that clients with the same answer do not come back together.
 */
export const delayAfter = (failures: number, retryAfterMs: number, random: () => number): number =>
  retryAfterMs + random() * Math.min(CAP_MS, BASE_MS * 2 ** failures);

/**
 * The wait after a failure, for a destination and for a single record: about half as long as the trouble has lasted,
 * from its first failure on. So what waits goes out at the latest half as long after the end of an outage as it lasted.
 */
export const waitInTrouble = (troubleMs: number, random: () => number): number =>
  (0.5 + random() / 2) * Math.min(CAP_MS, Math.max(BASE_MS, troubleMs / 2));
