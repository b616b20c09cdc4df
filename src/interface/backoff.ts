/** The longest wait after a first failure. */
export const BASE_MS = 1_000;
/** The longest wait that we choose. */
export const CAP_MS = 300_000;
/** The longest wait that a server may ask for. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/** The wait that a server has asked for, within its limits; 0 if it is no number. */
export const boundedWait = (ms: number): number =>
  Math.min(Math.max(ms || 0, 0), MAX_RETRY_AFTER_MS);

/** Reads `Retry-After`, seconds or an HTTP date, as milliseconds from now; 0 if there is none. */
export const parseRetryAfter = (text: string | null | undefined, now: number): number => {
  // Two headers come as one, with a comma between them: the first counts.
  const isSeconds = /^\s*\d+\s*(,|$)/.test(text!);
  return boundedWait(isSeconds ? parseInt(text!, 10) * 1_000 : Date.parse(text!) - now); // `null` is no time either
};

/**
 * The wait after a failure: half as long as the trouble has lasted since its first failure, less up to half of that by
 * `random`, a number from 0 to 1. So a waiting record goes out at the latest half as long after an outage as the outage
 * has lasted.
 */
export const waitInTrouble = (troubleMs: number, random: number): number =>
  (0.5 + random / 2) * Math.max(BASE_MS, Math.min(CAP_MS, troubleMs / 2));

/** No stored time is further ahead: a longer one was stored before the clock was set back. */
export const LONGEST_STORED_MS = 7_200_000;

/** A time that was stored, if it still lies ahead; else 0. */
export const ahead = (time: number | undefined, now: number, most = LONGEST_STORED_MS): number =>
  time! > now && time! - now <= most ? time! : 0;
