import { mayFail } from '../util/may-fail.js';

/** What an attempt means for its record and for the destination. */
export interface Verdict {
  outcome: 'delivered' | 'retry' | 'blocked' | 'rejected';
  status: number;
}

/** Whether the body of a 2xx says that the operation did not complete (interface, sections 2.4 and 7). */
const saysError = (body: string): boolean | undefined =>
  // If the body is empty, plain text or `null`, the status alone counts.
  mayFail(() => {
    const { success, code } = JSON.parse(body) as { success?: unknown; code?: unknown };
    return success === false || (success !== true && code !== undefined);
  });

/**
 * Sorts an answer. An answer that is no success, no refusal of this record and no passing trouble means that the
 * set-up is wrong, and no record is lost for that. HTML does not come from the service, but from something between
 * (a captive portal, a proxy's error page), whatever its status. Status 0 means no answer: the server refused the connection,
 * could not be reached, was blocked or took too long. A page cannot tell which.
 */
export const outcomeOf = (status: number, body: string): Verdict['outcome'] => {
  if (/^(0|5..|408|425|429)$/.test(`${status}`)) return 'retry';
  if (/^\s*</.test(body)) return 'blocked';
  if (/^4(00|09|13|22)$/.test(`${status}`)) return 'rejected';
  if (!/^2..$/.test(`${status}`)) return 'blocked';
  return saysError(body) ? 'rejected' : 'delivered';
};
