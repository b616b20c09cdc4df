/** What an attempt means for its record and for the destination. */
export interface Verdict {
  outcome: 'delivered' | 'retry' | 'blocked' | 'rejected';
  status: number;
}

const RETRY: readonly number[] = [408, 425, 429];
const REJECTED: readonly number[] = [400, 409, 413, 422];

/** Whether the body of a 2xx says that the operation did not complete (interface, sections 2.4 and 7). */
const saysError = (body: string): boolean => {
  try {
    const { success, code } = JSON.parse(body) as { success?: unknown; code?: unknown };
    return success === false || (success !== true && code !== undefined);
  } catch {
    return false; // the body is empty, plain text or `null`, so the status alone counts
  }
};

/**
 * Sorts an answer. An answer that is no success, no refusal of this record and no passing trouble means that the
 * set-up is wrong, and no record is lost for that. HTML does not come from the service, but from something between
 * (a captive portal, an error page with status 200). Status 0 means no answer: the server refused the connection,
 * could not be reached, was blocked or took too long. A page cannot tell which.
 */
export const outcomeOf = (status: number, body: string): Verdict['outcome'] => {
  if (status === 0 || status >= 500 || RETRY.includes(status)) return 'retry';
  if (REJECTED.includes(status)) return 'rejected';
  if (status < 200 || status > 299) return 'blocked';
  if (/^\s*</.test(body)) return 'blocked';
  return saysError(body) ? 'rejected' : 'delivered';
};
