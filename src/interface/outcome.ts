/** What an attempt means for its record and for the destination. */
export interface Verdict {
  outcome: 'delivered' | 'retry' | 'blocked' | 'rejected';
  status: number;
}

const RETRY: readonly number[] = [408, 425, 429];
const REJECTED: readonly number[] = [400, 409, 413, 422];

/** True where a 2xx body says that the operation did not complete (interface, sections 2.4 and 7). */
const saysError = (body: string): boolean => {
  try {
    const { success, code } = JSON.parse(body) as { success?: unknown; code?: unknown };
    return success === false || (success !== true && code !== undefined);
  } catch {
    return false; // an answer that is empty, plain text or `null`: the status speaks
  }
};

/**
 * Sorts an answer. What is neither success, nor a refusal of this record, nor a passing trouble means that
 * the set-up is wrong: nothing is lost for it. HTML is no answer of this service but of something between
 * (a captive portal, an error page with status 200). Status 0: no answer came. The server refused it, could not be
 * reached, was blocked or took too long; it cannot be told which.
 */
export const outcomeOf = (status: number, body: string): Verdict['outcome'] => {
  if (status === 0 || status >= 500 || RETRY.includes(status)) return 'retry';
  if (REJECTED.includes(status)) return 'rejected';
  if (status < 200 || status > 299) return 'blocked';
  if (/^\s*</.test(body)) return 'blocked';
  return saysError(body) ? 'rejected' : 'delivered';
};
