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

/** How things stood when a request was started. */
export interface Started {
  epoch: number;
  passes: number;
  /** End of the destination's penalty. */
  until: number;
  at: number;
}

/** What is known of the destination, and how much may be asked of it. */
export const createHealth = (effects: Effects, troubles: Troubles) => {
  const { gate, concurrency, now, random } = effects;
  const pauses = createPauses(effects);
  const { pause, resume, hurry } = pauses;
  let width = Infinity;
  /** Counts penalties: failures of requests started before the last one are the same trouble. */
  let epoch = 0;
  let passes = 0;

  /** One goes first, and the others wait for what it comes to. */
  const isProbing = (): boolean => {
    if (gate.until()) width = 1;
    return width === 1;
  };

  return {
    pause,
    resume,
    hurry,
    isProbing,
    /** Requests at a time: after trouble 1, 2, 4, and so on. */
    width: (): number => (isProbing() ? 1 : Math.min(width, concurrency())),
    begin: (): Started => ({ epoch, passes, until: gate.until(), at: now() }),
    /** False for a request from before the last failure: it says nothing about how things are now. */
    isCurrent: (started: Started): boolean => started.epoch === epoch,
    /** The service has answered, and taken or refused so many records: it works. */
    passed: ({ until }: Started, count: number): void => {
      passes += count;
      pauses.passed();
      // Not what was closed since, perhaps by another page.
      if (gate.until() === until) gate.open();
      width = Math.min(width * 2, concurrency());
    },
    /**
     * Records that were in one request wait for another attempt. True when that is trouble of theirs alone: then
     * they have one delay for all, since it is not known yet which of them it is.
     */
    failed: (entries: readonly Entry[], attempt: Attempt, started: Started): boolean => {
      const { outcome, status, retryAfterMs, isUnlisted } = attempt;
      const isBlocked = outcome === 'blocked';
      if (status > 0) pauses.hear();
      const [failures, areSuspects] = troubles.fail(entries, started.passes, passes);
      const isOfAll = isBlocked ? status === 401 : status === 429 || retryAfterMs > 0;
      const areTheirs = isUnlisted || (areSuspects && !isOfAll);
      // One among several is soon found.
      const isSlow = isBlocked && entries.length === 1;
      const delay = isSlow ? SLOW_MS : delayAfter(failures - 1, 0, random);
      troubles.putOff(entries, areTheirs ? now() + delay : 0);
      if (areTheirs) {
        // It has said nothing of the destination: the next probe need not wait for this one.
        if (started.until && gate.until() === started.until) gate.reserve(0);
        return true;
      }
      if (isBlocked) return false;
      const isRepeat = started.epoch !== epoch;
      const isSilent = status === 0;
      gate.close({ retryAfterMs, isRepeat, startedUntil: started.until, isSilent });
      width = 1;
      if (isRepeat) return false;
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
