import type { Entry } from '../outbox/parcel.js';
import type { Status } from '../types.js';
import { delayAfter } from '../../interface/backoff.js';
import type { Gate } from './gate.js';
import type { Attempt } from './sender.js';
import type { Troubles } from './troubles.js';

/** While the set-up is wrong, or nothing answers: one try this often. */
export const SLOW_MS = 300_000;
/** Attempts in a row without an answer that stop delivery. */
const SILENT = 3;

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
  const { gate, troubles, concurrency, now, random, isOnline, onUnreachable } = effects;
  let width = Infinity;
  /** Counts penalties: failures of requests started before the last one are the same trouble. */
  let epoch = 0;
  let passes = 0;
  let silent = 0;
  let isTold = false;
  let setupUntil = 0;
  let unreachableUntil = 0;
  let offlineUntil = 0;
  let returnUntil = 0;

  const setDue = (entries: readonly Entry[], dueAt: number) => {
    for (const entry of entries) troubles.of(entry).dueAt = dueAt;
  };

  /** A pause that ends later than any can was begun before the clock was set back. */
  const lasts = (until: number, time: number) => until > time && until - time <= SLOW_MS;

  const isOffline = (time: number): boolean => {
    if (isOnline()) offlineUntil = 0;
    // Some systems say offline for ever: try now and then all the same.
    else offlineUntil ||= time + SLOW_MS;
    return lasts(offlineUntil, time);
  };

  /**
   * Whether others were delivered since these were last seen to fail, or were started. They go on with one
   * delay, since it is not known yet which of them it is.
   */
  const isTheirOwn = (entries: readonly Entry[], started: Started): boolean => {
    const known = entries.map(troubles.of);
    for (const trouble of known) {
      trouble.isSuspect ||= passes > (trouble.mark ?? started.passes);
      trouble.mark = passes;
      trouble.failures++;
    }
    const failures = Math.min(...known.map((trouble) => trouble.failures));
    setDue(entries, now() + delayAfter(failures - 1, 0, random));
    return known.every(({ isSuspect }) => isSuspect);
  };

  /** It has said nothing of the destination: the next probe need not wait for this one. */
  const endProbe = ({ isProbe, until }: Started): void => {
    if (isProbe && gate.until() === until) gate.reserve(0);
  };

  /** There was an answer. */
  const hear = (): void => {
    silent = 0;
    isTold = false;
  };

  return {
    /** Why nothing may be sent now, and until when. */
    pause: (time: number): [Status['paused'], number] => {
      if (isOffline(time)) return ['offline', offlineUntil];
      if (lasts(setupUntil, time)) return ['setup', setupUntil];
      if (lasts(unreachableUntil, time)) return ['unreachable', unreachableUntil];
      const closedUntil = gate.until();
      const until = lasts(returnUntil, time) ? Math.max(returnUntil, closedUntil) : closedUntil;
      return until > time ? ['backoff', until] : [undefined, 0];
    },
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
      hear();
      setupUntil = unreachableUntil = 0;
      // Not what was closed since, by another page or before the clock was set back.
      const closed = gate.until();
      if (closed === until || (closed <= at && at <= now())) gate.open();
      width = Math.min(width * 2, concurrency());
    },
    /**
     * Passing trouble of records that were in one request. True when it is theirs alone, which then have
     * a delay of their own.
     */
    failed: (
      entries: readonly Entry[],
      { status, retryAfterMs }: Attempt,
      started: Started,
    ): boolean => {
      if (status > 0) hear();
      if (isTheirOwn(entries, started) && status !== 429 && retryAfterMs === 0) {
        endProbe(started);
        return true;
      }
      setDue(entries, 0);
      const again = started.epoch !== epoch;
      gate.close(retryAfterMs, again, started.until, status === 0);
      width = 1;
      if (again) return false;
      epoch++;
      if (status === 0 && ++silent >= SILENT) {
        unreachableUntil = now() + SLOW_MS;
        silent = 0;
        if (!isTold && isOnline()) onUnreachable();
        isTold = true;
      }
      return false;
    },
    /** Blocked for values of their own. */
    setAside: (entries: readonly Entry[], started: Started): void => {
      hear();
      for (const entry of entries) troubles.of(entry).failures++;
      setDue(entries, now() + SLOW_MS);
      endProbe(started);
    },
    /** The set-up looks wrong. True when it is only these records that are answered so. */
    refused: (entries: readonly Entry[], status: number, started: Started): boolean => {
      hear();
      const isOwn = isTheirOwn(entries, started) && status !== 401;
      // One among several is soon found.
      if (!isOwn) setDue(entries, 0);
      else if (entries.length === 1) setDue(entries, now() + SLOW_MS);
      return isOwn;
    },
    waitForSetUp: (): void => {
      setupUntil = now() + SLOW_MS;
      width = 1;
    },
    /** The network is back, or the set-up has changed. Nothing is sent for so long yet. */
    resume: (waitMs = 0): void => {
      if (silent > 0 || unreachableUntil > 0) gate.lift();
      silent = setupUntil = unreachableUntil = offlineUntil = 0;
      returnUntil = now() + waitMs;
    },
    /** Who asks for it now need not wait for the others to come back. */
    hurry: (): void => {
      returnUntil = 0;
    },
  };
};
export type Health = ReturnType<typeof createHealth>;
