import type { Status } from '../types.js';

/** While the set-up is wrong, or nothing answers: one try this often. */
export const SLOW_MS = 300_000;

/** Why nothing may be sent, and until when. */
export type Pause = [Status['paused'], number];

/** Attempts in a row without an answer that stop delivery. */
const SILENT = 3;

interface Effects {
  now: () => number;
  isOnline: () => boolean;
  /** Nothing answers, though the browser says that it is online: called once until something does. */
  onUnreachable: () => void;
  /** End of the destination's penalty. */
  closedUntil: () => number;
}

/** What keeps this page from sending, beside the destination's penalty. */
export const createPauses = (effects: Effects) => {
  const { now, isOnline, onUnreachable, closedUntil } = effects;
  let offlineUntil = 0;
  let setupUntil = 0;
  let unreachableUntil = 0;
  let returnUntil = 0;
  /** Attempts in a row without an answer. */
  let silent = 0;
  let isTold = false;

  /** A pause that ends later than any can was begun before the clock was set back. */
  const lasts = (until: number, time: number) => until > time && until - time <= SLOW_MS;

  const isOffline = (time: number): boolean => {
    if (isOnline()) offlineUntil = 0;
    // Some systems say offline for ever: try now and then all the same.
    else offlineUntil ||= time + SLOW_MS;
    return lasts(offlineUntil, time);
  };

  return {
    /** What holds now; nothing where something may be sent. */
    current: (time: number): Pause => {
      if (isOffline(time)) return ['offline', offlineUntil];
      if (lasts(setupUntil, time)) return ['setup', setupUntil];
      if (lasts(unreachableUntil, time)) return ['unreachable', unreachableUntil];
      const until = Math.max(closedUntil(), lasts(returnUntil, time) ? returnUntil : 0);
      return until > time ? ['backoff', until] : [undefined, 0];
    },
    waitForSetUp: (): void => void (setupUntil = now() + SLOW_MS),
    /** There was an answer. */
    hear: (): void => {
      silent = 0;
      isTold = false;
    },
    /** There was none. */
    miss: (): void => {
      if (++silent < SILENT) return;
      silent = 0;
      unreachableUntil = now() + SLOW_MS;
      if (!isTold && isOnline()) onUnreachable();
      isTold = true;
    },
    /** The last attempt had no answer. */
    isSilent: (): boolean => silent > 0 || unreachableUntil > 0,
    /** The destination works. */
    passed: (): void => void (setupUntil = unreachableUntil = 0),
    /** The network is back, or the set-up has changed. Nothing is sent for so long yet. */
    resume: (waitMs: number): void => {
      silent = setupUntil = unreachableUntil = offlineUntil = 0;
      returnUntil = now() + waitMs;
    },
    /** Who asks for it now need not wait for the others to come back. */
    hurry: (): void => void (returnUntil = 0),
  };
};

export type Pauses = ReturnType<typeof createPauses>;
