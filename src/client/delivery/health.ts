import type { Entry } from '../outbox/parcel.js';
import { delayAfter } from '../../interface/backoff.js';
import type { Gate } from './gate.js';
import { createPauses, SLOW_MS } from './pauses.js';
import type { Attempt } from './sender.js';
import type { Troubles } from './troubles.js';

interface Effects {
  gate: Gate;
  troubles: Troubles;
  concurrency: () => number;
  now: () => number;
  random: () => number;
  isOnline: () => boolean;
  /** Nothing answers, though the browser says that it is online: called once until something does. */
  onUnreachable: () => void;
}

/** How things stood when a request was started. */
export interface Started {
  epoch: number;
  passes: number;
  /** End of the destination's penalty. */
  until: number;
  at: number;
  isProbe: boolean;
}

/** What is known of the destination, and how much may be asked of it. */
export const createHealth = (effects: Effects) => {
  const { gate, troubles, concurrency, now, random } = effects;
  const pauses = createPauses({ ...effects, closedUntil: gate.until });
  let width = Infinity;
  /** Counts penalties: failures of requests started before the last one are the same trouble. */
  let epoch = 0;
  let passes = 0;

  /** With one delay for all, since it is not known yet which of them it is. */
  const isTheirOwn = (entries: readonly Entry[], started: Started): boolean => {
    const [failures, isOwn] = troubles.fail(entries, started.passes, passes);
    troubles.putOff(entries, now() + delayAfter(failures - 1, 0, random));
    return isOwn;
  };

  /** It has said nothing of the destination: the next probe need not wait for this one. */
  const endProbe = ({ isProbe, until }: Started): void => {
    if (isProbe && gate.until() === until) gate.reserve(0);
  };

  return {
    /** Why nothing may be sent now, and until when. */
    pause: pauses.current,
    /** One goes first, and the others wait for what it comes to. */
    isProbing: (): boolean => {
      if (gate.isDoubtful()) width = 1;
      return width === 1;
    },
    /** Requests at a time: after trouble 1, 2, 4, and so on. */
    width: (): number => Math.min(width, concurrency()),
    begin: (): Started => ({
      epoch,
      passes,
      until: gate.until(),
      at: now(),
      isProbe: gate.isDoubtful(),
    }),
    /** False for a request from before the last failure: it says nothing about how things are now. */
    isCurrent: (started: Started): boolean => started.epoch === epoch,
    /** The service has answered, and taken or refused so many records: it works. */
    passed: ({ until, at }: Started, count = 1): void => {
      passes += count;
      pauses.hear();
      pauses.passed();
      // Not what was closed since, by another page or before the clock was set back.
      const closed = gate.until();
      if (closed === until || (closed <= at && at <= now())) gate.open();
      width = Math.min(width * 2, concurrency());
    },
    /**
     * Passing trouble of records that were in one request. True when it is theirs alone, which then have
     * a delay of their own.
     */
    failed: (entries: readonly Entry[], attempt: Attempt, started: Started): boolean => {
      const { status, retryAfterMs } = attempt;
      if (status > 0) pauses.hear();
      if (isTheirOwn(entries, started) && status !== 429 && retryAfterMs === 0) {
        endProbe(started);
        return true;
      }
      troubles.putOff(entries, 0);
      const again = started.epoch !== epoch;
      gate.close(retryAfterMs, again, started.until, status === 0);
      width = 1;
      if (again) return false;
      epoch++;
      if (status === 0) pauses.miss();
      return false;
    },
    /** Blocked for values of their own. */
    setAside: (entries: readonly Entry[], started: Started): void => {
      pauses.hear();
      for (const entry of entries) troubles.of(entry).failures++;
      troubles.putOff(entries, now() + SLOW_MS);
      endProbe(started);
    },
    /** The set-up looks wrong. True when it is only these records that are answered so. */
    refused: (entries: readonly Entry[], status: number, started: Started): boolean => {
      pauses.hear();
      const isOwn = isTheirOwn(entries, started) && status !== 401;
      // One among several is soon found.
      if (!isOwn) troubles.putOff(entries, 0);
      else if (entries.length === 1) troubles.putOff(entries, now() + SLOW_MS);
      return isOwn;
    },
    waitForSetUp: (): void => {
      pauses.waitForSetUp();
      width = 1;
    },
    /** The network is back, or the set-up has changed. Nothing is sent for so long yet. */
    resume: (waitMs = 0): void => {
      if (pauses.isSilent()) gate.lift();
      pauses.resume(waitMs);
    },
    /** Who asks for it now need not wait for the others to come back. */
    hurry: pauses.hurry,
  };
};

export type Health = ReturnType<typeof createHealth>;
