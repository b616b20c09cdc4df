import type { BatchRecord } from '../../interface/wire.js';
import type { Verdict } from '../../interface/outcome.js';
import { boundedWait } from '../../interface/backoff.js';
import type { Tell } from '../hooks.js';
import { inTime } from '../in-time.js';
import { createTrouble } from '../trouble.js';
import { causeOf } from './cause-of.js';
import type { Attempt } from './upstream.js';

/** What became of a record that was given to `send`. */
export interface SendResult extends Verdict {
  /** Milliseconds until it is worth trying again, with `retry`. @default by the relay's own backoff */
  retryAfterMs?: number | undefined;
}

/**
 * Takes records in one call, in place of a request each: a store in the same process, say. Answers one result for each
 * record, in their order. Rejects if it could not take any of them; the relay tries them again. A record may come more
 * than once, with the same id.
 */
export type Send = (
  records: readonly BatchRecord[],
  how: {
    /** Whose records these are: an address, or what else `clientAddress` gives. */
    client: string | undefined;
    /** The truncated address, with `forwardAddress`. */
    address: string | undefined;
    /** The request that they came in; unknown where they come from a queue. */
    request: Request | undefined;
  },
) => Promise<readonly SendResult[]>;

interface Effects {
  send: Send;
  /** Milliseconds a call may take. */
  timeout: number;
  now: () => number;
  tell: Tell;
}

/** Sends records by one call of `send`. What throws, hangs or answers too little has taken nothing. */
export const createBatchUpstream = ({ send, timeout, now, tell }: Effects) => {
  const silence = createTrouble(tell, now);

  return async (...call: Parameters<Send>): Promise<readonly Attempt[]> => {
    const started = now();
    let results: readonly (SendResult | undefined)[] = [];
    try {
      results = [...(await inTime(timeout, () => send(...call), '`send`'))];
      silence.healed();
    } catch (error) {
      const message = `the service does not answer: ${causeOf(error)}`;
      silence.tell({ kind: 'unreachable', message });
    }
    tell.metric('upstream_ms', now() - started, { status: String(results[0]?.status ?? 0) });
    return call[0].map((_, index): Attempt => {
      const { outcome = 'retry', status = 0, retryAfterMs = 0 } = results[index] ?? {};
      return { outcome, status, retryAfterMs: boundedWait(retryAfterMs) };
    });
  };
};
