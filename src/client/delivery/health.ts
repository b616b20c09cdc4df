import type { Entry } from '../outbox/parcel.js';
import { delayAfter } from '../../interface/backoff.js';
import type { DeliveryEffects } from './context.js';
import { createPauses, SLOW_MS } from './pauses.js';
import type { Attempt } from './sender.js';
import type { Troubles } from './troubles.js';

type Effects = Pick<
  DeliveryEffects,
  'gate' | 'mayRun' | 'concurrency' | 'now' | 'random' | 'isOnline'
>;

/** The state of delivery when a request was started. */
export interface Started {
  epoch: number;
  passes: number;
  /** When the destination's penalty ended, as it was known then. */
  until: number;
  at: number;
}

/** What is known of the destination, and how many requests it may have. */
export const createHealth = (effects: Effects, troubles: Troubles) => {
  const { gate, concurrency, now, random } = effects;
  const pauses = createPauses(effects);
  const { pause, resume, hurry } = pauses;
  let width = Infinity;
  /** Counts the penalties. A failure of a request from before the last penalty is the same trouble. */
  let epoch = 0;
  let passes = 0;

  /** Whether one request goes first, and the others wait for its answer. */
  const isProbing = (): boolean => {
    if (gate.until()) width = 1;
    return width === 1;
  };

  return {
    pause,
    resume,
    hurry,
    isProbing,
    /** How many requests may be under way: after a failure 1, then 2, 4, and so on. */
    width: (): number => (isProbing() ? 1 : Math.min(width, concurrency())),
    begin: (): Started => ({ epoch, passes, until: gate.until(), at: now() }),
    /** False for a request from before the last penalty: it says nothing about how things are now. */
    isCurrent: (started: Started): boolean => started.epoch === epoch,
    /** Called when the service has taken or refused so many records: it works. */
    passed: ({ until }: Started, count: number): void => {
      passes += count;
      pauses.passed();
      // A gate that has been closed since, perhaps by another page, stays closed.
      if (gate.until() === until) gate.open();
      width = Math.min(width * 2, concurrency());
    },
    /**
     * Called when the records of one request have failed. Returns true if the trouble is theirs alone. Then one delay
     * counts for all of them, since it is not known yet which of them is the cause.
     */
    failed: (entries: readonly Entry[], attempt: Attempt, started: Started): boolean => {
      const { outcome, status, retryAfterMs, isUnlisted } = attempt;
      const isBlocked = outcome === 'blocked';
      if (status > 0) pauses.hear();
      const [failures, areSuspects] = troubles.fail(entries, started.passes, passes);
      const isOfAll = isBlocked ? status === 401 : status === 429 || retryAfterMs > 0;
      const areTheirs = isUnlisted || (areSuspects && !isOfAll);
      // Of several, the one at fault is soon found: each goes alone after a short delay.
      const isSlow = isBlocked && entries.length === 1;
      const delay = isSlow ? SLOW_MS : delayAfter(failures - 1, 0, random);
      troubles.putOff(entries, areTheirs ? now() + delay : 0);
      if (areTheirs) {
        // This probe has said nothing of the destination, so the next one need not wait.
        if (started.until && gate.until() === started.until) gate.reserve(0);
        return true;
      }
      if (isBlocked) return false;
      const again = started.epoch !== epoch;
      const isSilent = status === 0;
      gate.close({ retryAfterMs, again, known: started.until, isSilent });
      width = 1;
      if (again) return false;
      epoch++;
      if (isSilent) pauses.miss();
      return false;
    },
    waitForSetUp: (): void => {
      pauses.waitForSetUp();
      width = 1;
    },
  };
};

export type Health = ReturnType<typeof createHealth>;
