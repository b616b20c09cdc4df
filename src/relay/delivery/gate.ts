import { ahead, CAP_MS, waitInTrouble } from '../../interface/backoff.js';
import type { Tell } from '../hooks.js';
import { createTrouble } from '../trouble.js';
import { setupWords, type Attempt } from './upstream.js';

/** Requests at a time to a service that has not answered yet. */
const START = 4;
/** When so many records have failed, and none has passed, it is not them. */
const MANY = 4;

interface Effects {
  /** Requests at a time at the most. */
  most: number;
  now: () => number;
  random: () => number;
  tell: Tell;
}

/** How it stands with the service, for people. Times are milliseconds since the epoch. */
export interface ServiceState {
  /** When the service last took a record. */
  lastSuccess?: number;
  /** Given while the service fails. */
  trouble?: {
    since: number;
    /** The end of the pause. */
    until: number;
    /** What the last failure was: an HTTP status, or 0 for no answer. */
    status: number;
  };
}

/**
 * Decides when requests may go to the service, and how many at a time.
 *
 * Each success makes room for one more request, so the number doubles with every round of answers, up to `most`.
 * A failure starts a pause of about half the time for which the service has been failing. After the pause one
 * request goes at a time, until one succeeds. While only a few records fail, it may be they that the service
 * dislikes: the pause stays short then, so that they do not hold up others for minutes.
 */
export const createGate = ({ most, now, random, tell }: Effects) => {
  const start = Math.min(START, most);
  let width = start;
  /** The time of the first failure that no success has followed. */
  let since: number | undefined;
  /** Records that have failed since then, the first few. */
  const failing = new Set<string>();
  /** The end of the pause. A success ends it at once. */
  let until = 0;
  /** The end of the wait that the service has asked for. */
  let askedUntil = 0;
  let lastSuccess: number | undefined;
  let lastStatus = 0;
  const trouble = createTrouble(tell, now);
  const left = (time: number): number => Math.max(0, ahead(time, now()) - now());

  return {
    /** Milliseconds until it is worth asking; 0 when it is now. */
    waitMs: (): number => Math.max(left(until), left(askedUntil)),
    state: (): ServiceState => ({
      ...(lastSuccess !== undefined && { lastSuccess }),
      ...(since !== undefined && {
        trouble: { since, until: Math.max(until, askedUntil), status: lastStatus },
      }),
    }),
    /** Whether one more request may start beside those that are under way. */
    allows: (underWay: number): boolean => {
      // How fast the service was before it had nothing to do says little about now.
      if (underWay === 0 && since === undefined) width = start;
      return underWay < width;
    },
    passed: (): void => {
      if (since !== undefined) tell.metric('trouble', 0);
      trouble.healed();
      lastSuccess = now();
      since = undefined;
      failing.clear();
      until = 0;
      width = Math.min(most, width + 1);
    },
    failed: (id: string, { outcome, status, retryAfterMs }: Attempt): void => {
      const time = now();
      const jitterMs = random() * Math.min(CAP_MS, retryAfterMs / 2);
      if (retryAfterMs) askedUntil = time + Math.max(left(askedUntil), retryAfterMs + jitterMs);
      width = 1;
      lastStatus = status;
      if (left(until)) return; // a request that was under way when the pause began
      if (since === undefined) tell.metric('trouble', 1);
      // Once may be the record's own trouble. A wrong token and no answer are told of where they are found.
      else if (status && status !== 401) {
        const isSetup = outcome === 'blocked';
        const message = isSetup
          ? setupWords(status)
          : `the service answers ${status}; records wait`;
        trouble.tell({ kind: isSetup ? 'setup' : 'service', status, message }, since);
      }
      since ??= time;
      if (failing.size < MANY) failing.add(id);
      until = time + waitInTrouble(failing.size < MANY ? 0 : time - since, random);
    },
  };
};
