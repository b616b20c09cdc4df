import type { Status } from '../types.js';
import type { DeliveryEffects } from './context.js';

/** While the set-up is wrong, or nothing answers: one try this often. */
export const SLOW_MS = 300_000;

/** Why nothing may be sent, and until when; 0 where no end is known. */
export type Pause = [Status['paused'], number];

/** Attempts in a row without an answer that stop delivery. */
const SILENT = 3;

type Effects = Pick<DeliveryEffects, 'gate' | 'mayRun' | 'now' | 'isOnline'>;

/** What keeps this page from sending, beside the destination's penalty. */
export const createPauses = ({ gate, mayRun, now, isOnline }: Effects) => {
  /** The last pause, which may be over. */
  let reason: Status['paused'];
  let until = 0;
  /** Attempts in a row without an answer. */
  let silent = 0;

  const hold = (why: Status['paused'], ms = SLOW_MS): void => {
    reason = why;
    until = now() + ms;
  };
  const end = (why: Status['paused']): void => {
    if (reason === why) hold(undefined, 0);
  };

  /** There was an answer. */
  const hear = (): void => {
    silent = 0;
    end('unreachable');
  };

  return {
    /** What holds now; nothing where something may be sent. */
    pause: (): Pause => {
      const time = now();
      if (!mayRun()) return ['consent', 0];
      if (isOnline()) end('offline');
      // Some systems say offline for ever: try now and then all the same.
      else if (reason !== 'offline') hold('offline');
      // A pause that ends later than any can was begun before the clock was set back.
      const holds = until > time && until - time <= SLOW_MS;
      if (holds && reason !== 'backoff') return [reason, until];
      const next = Math.max(gate.until(), holds ? until : 0);
      return next > time ? ['backoff', next] : [undefined, 0];
    },
    waitForSetUp: (): void => hold('setup'),
    hear,
    /** There was none. */
    miss: (): void => {
      if (++silent >= SILENT) hold('unreachable');
    },
    /** The destination works. */
    passed: (): void => {
      hear();
      end('setup');
    },
    /** The network is back, or the set-up has changed. Nothing is sent for so long yet. */
    resume: (waitMs = 0): void => {
      if (silent > 0) gate.lift(); // it may have been the network
      silent = 0;
      hold('backoff', waitMs);
    },
    /** Who asks for it now need not wait for the others to come back. */
    hurry: (): void => end('backoff'),
  };
};

export type Pauses = ReturnType<typeof createPauses>;
