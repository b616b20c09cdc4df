import { delayAfter } from '../delivery/backoff.js';
import type { Tell } from './hooks.js';

/** How long others are told to wait while one probe is under way. */
const PROBE_WAIT_MS = 1_000;

interface Effects {
  /** Failures in a row that open it. */
  failures: number;
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
 * Stops asking a service that does not answer: after some failures in a row, or when it says itself how
 * long to wait. When the time is over one probe goes first.
 */
export const createBreaker = ({ failures: threshold, now, random, tell }: Effects) => {
  let failures = 0;
  /** Times in a row it has opened; 0 while closed. */
  let openings = 0;
  let until = 0;
  /** Counts openings: what was started before the last one says nothing about how things are now. */
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
    /** Lets a request through, after the probe where one is under way, or not. */
    enter: async (): Promise<Pass | undefined> => {
      while (openings) {
        if (until > now()) return undefined;
        if (!probe) return startProbe();
        await probe.ended;
      }
      return { epoch, isProbe: false };
    },
    /** What it came to; to be called once for each pass. */
    leave: (
      pass: Pass,
      outcome: { kind: 'passed' } | { kind: 'failed'; retryAfterMs: number } | { kind: 'untried' },
    ): void => {
      if (pass.epoch === epoch) {
        if (outcome.kind === 'passed') {
          failures = 0;
          close();
        } else if (outcome.kind === 'failed') {
          failures++;
          if (pass.isProbe || failures >= threshold || outcome.retryAfterMs > 0) {
            open(outcome.retryAfterMs);
          }
        }
      } else if (outcome.kind === 'failed' && outcome.retryAfterMs > 0) {
        // The same trouble, seen by a parallel request; but what the service wishes counts.
        until = Math.max(until, now() + outcome.retryAfterMs);
      }
      if (pass.isProbe) {
        probe?.end();
        probe = undefined;
      }
    },
  };
};

export type Breaker = ReturnType<typeof createBreaker>;
