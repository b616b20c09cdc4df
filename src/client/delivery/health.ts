import type { Status } from '../types.js';
import type { DeliveryEffects } from './context.js';
import type { Attempt } from './sender.js';

type Effects = Pick<
  DeliveryEffects,
  'gate' | 'mayRun' | 'concurrency' | 'isOnline' | 'now' | 'random'
>;

/** The state of delivery when a request was started. */
export interface Started {
  epoch: number;
  at: number;
}

/** Why nothing may be sent (`undefined`: something may), and until when (0: not known). */
export type Pause = [Status['paused'], number];

/** After so many attempts in a row without an answer the destination is called unreachable. */
const SILENT = 3;
/** When the network is back, its visitors try again spread over this time. */
const RETURN_MS = 2_000;

/** How much may be sent to the destination now. */
export const createHealth = ({ gate, mayRun, concurrency, isOnline, now, random }: Effects) => {
  /** How many requests at a time, and records in one: 1 after a failure, then 2, 4, and so on. */
  let pace = Infinity;
  /** Counts how often the gate was closed. A request from before does not take the place of a probe. */
  let epoch = 0;
  /** Attempts in a row without an answer. */
  let silent = 0;
  /** Whether the set-up was refused, or there was no token, when delivery failed last. */
  let isRefused = false;

  /** While the destination is in trouble, one request goes at a time. */
  const paceNow = (): number => {
    if (gate.until()) pace = 1;
    return pace;
  };

  const reason = (): Status['paused'] => {
    if (isRefused) return 'setup';
    if (!isOnline()) return 'offline';
    return silent >= SILENT ? 'unreachable' : 'backoff';
  };

  return {
    /** Why delivery is in trouble, for people. No rule depends on it. */
    reason: (): Status['paused'] => {
      if (!mayRun()) return 'consent';
      return gate.until() ? reason() : undefined;
    },
    pause: (): Pause => {
      if (!mayRun()) return ['consent', 0];
      const until = gate.until();
      return until > now() ? [reason(), until] : [undefined, 0];
    },
    /** How many records may be in a request, and how many requests under way. */
    pace: paceNow,
    width: (): number => Math.min(paceNow(), concurrency()),
    begin: (): Started => ({ epoch, at: now() }),
    /** False for a request from before the last failure. */
    isCurrent: (started: Started): boolean => started.epoch === epoch,
    /** Called when the service has taken or refused records: it works. */
    passed: (): void => {
      gate.open();
      pace *= 2;
      silent = 0;
      isRefused = false;
    },
    /** Called when a record has failed; `failedSince` tells since when, if it has failed before. */
    failed: ({ outcome, status, retryAfterMs }: Attempt, failedSince?: number): void => {
      const isClosed = gate.close(retryAfterMs, failedSince);
      if (isClosed) epoch++;
      if (status > 0) silent = 0;
      else if (isClosed) silent++;
      isRefused = outcome === 'blocked';
      pace = 1;
    },
    /** Called when there is no token. */
    lacksToken: (): void => {
      isRefused = true;
      gate.close(0);
    },
    /** Whether nothing has answered for a while. */
    isUnreachable: (): boolean => reason() === 'unreachable',
    /** Called when the network is back, perhaps for many visitors at the same moment. */
    comeOnline: (): void => {
      silent = 0;
      gate.hasten(random() * RETURN_MS);
    },
    /** Called when the set-up has changed. */
    reconfigure: (): void => {
      silent = 0;
      isRefused = false;
      gate.hasten(0);
    },
  };
};

export type Health = ReturnType<typeof createHealth>;
