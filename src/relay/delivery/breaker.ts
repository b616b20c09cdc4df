import { delayAfter } from '../../interface/backoff.js';
import type { Tell } from '../hooks.js';
import { isFinal } from '../queue/later.js';
import type { Attempt } from './upstream.js';

/** While one probe is under way, others are told to wait this long. */
const PROBE_WAIT_MS = 1_000;

interface Effects {
  /** Records that fail in a row until it opens. */
  failureThreshold: number;
  now: () => number;
  random: () => number;
  tell: Tell;
}

/** A request that was let through. */
export interface Pass {
  epoch: number;
  isProbe: boolean;
}

/**
 * A circuit breaker: makes no request for a while after several records failed in a row, or when the service
 * says how long to wait. Then one request, the probe, goes first.
 */
export const createBreaker = ({ failureThreshold, now, random, tell }: Effects) => {
  /** Records that failed since one passed. One that is tried again and again counts once. */
  const failing = new Set<string>();
  /** Times in a row it has opened; 0 while closed. */
  let openings = 0;
  let until = 0;
  /**
   * Counts how often it has opened. A request that started before the last time says nothing about the
   * service now.
   */
  let epoch = 0;
  let probe: { ended: Promise<void>; end: () => void } | undefined;

  const open = (retryAfterMs: number): void => {
    until = now() + delayAfter(openings++, retryAfterMs, random);
    epoch++;
    tell.metric('breaker', 2);
  };
  const close = (): void => {
    if (openings) tell.metric('breaker', 0);
    openings = 0;
  };
  const startProbe = (): Pass => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    probe = { ended, end };
    tell.metric('breaker', 1);
    return { epoch, isProbe: true };
  };

  return {
    /** Milliseconds until it is worth asking; 0 when it is now. */
    waitMs: (): number => {
      if (!openings) return 0;
      return Math.max(until - now(), probe ? PROBE_WAIT_MS : 0);
    },
    /**
     * Lets a request through, or answers undefined. Where a probe is under way it waits for its result first.
     */
    enter: async (): Promise<Pass | undefined> => {
      while (openings) {
        if (until > now()) return undefined;
        if (!probe) return startProbe();
        await probe.ended;
      }
      return { epoch, isProbe: false };
    },
    /** Reports the result of a request, or undefined where it was not made. To be called once for each pass. */
    leave: (pass: Pass, id: string, attempt?: Pick<Attempt, 'outcome' | 'retryAfterMs'>): void => {
      const { epoch: since, isProbe } = pass;
      if (attempt && isFinal(attempt)) {
        if (since === epoch) {
          failing.clear();
          close();
        }
      } else if (attempt) {
        const { retryAfterMs } = attempt;
        if (since === epoch) {
          failing.add(id);
          if (isProbe || failing.size >= failureThreshold || retryAfterMs > 0) open(retryAfterMs);
        } else if (retryAfterMs > 0) {
          // A parallel request met the same trouble and does not count, but its `Retry-After` does.
          until = Math.max(until, now() + retryAfterMs);
        }
      }
      if (isProbe) {
        probe?.end();
        probe = undefined;
      }
    },
  };
};
