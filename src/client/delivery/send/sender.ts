import type { OutboxRecord, Outcome } from '../../types.js';
import type { TokenSource } from './token.js';

/** What one attempt came to for a record. */
export interface Answer {
  outcome: Exclude<Outcome, 'unknown'>;
  /** HTTP status of the answer; 0 if there was none. */
  status: number;
  retryAfterMs: number;
  /** What the developer has to look at if the set-up is wrong. */
  problem: string;
}

/**
 * Sends records in one request, which it starts before it returns. Resolves with an answer for each record, or with
 * nothing if the page was left before the answer.
 */
export type Send = (
  records: readonly OutboxRecord[],
  how: {
    keepalive: boolean;
    controller: AbortController;
    isSilent: boolean;
    /** What sends the request, in place of the page's own `fetch`. */
    fetch?: typeof fetch;
  },
) => Promise<Answer[] | undefined>;

/** Sends to one destination. What is sent directly needs a token, what is sent to a relay does not. */
export type Sender = readonly [send: Send, token?: TokenSource];
