import type { Status } from '../types.js';
import type { DeliveryEffects } from './context.js';

/** While the set-up is wrong, or nothing answers, there is one try this often. */
export const SLOW_MS = 300_000;

/** Why nothing may be sent (`undefined`: something may), and until when (0: not known). */
export type Pause = [Status['paused'], number];

/** Delivery pauses after this many attempts in a row without an answer. */
const SILENT = 3;

type Effects = Pick<DeliveryEffects, 'gate' | 'mayRun' | 'now' | 'isOnline'>;

/** Everything that keeps this page from sending, the gate included. */
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

  /** Called when there was an answer. */
  const hear = (): void => {
    silent = 0;
    end('unreachable');
  };

  return {
    /** The pause that holds now. */
    pause: (): Pause => {
      const time = now();
      if (!mayRun()) return ['consent', 0];
      if (isOnline()) end('offline');
      // Some systems say for ever that they are offline, so there is a try now and then all the same.
      else if (reason !== 'offline') hold('offline');
      // A pause with a later end than any can have began before the clock was set back, and is over.
      const holds = until > time && until - time <= SLOW_MS;
      if (holds && reason !== 'backoff') return [reason, until];
      const next = Math.max(gate.until(), holds ? until : 0);
      return next > time ? ['backoff', next] : [undefined, 0];
    },
    waitForSetUp: (): void => hold('setup'),
    hear,
    /** Called when there was no answer. */
    miss: (): void => {
      if (++silent >= SILENT) hold('unreachable');
    },
    /** Called when a request has passed: the destination works. */
    passed: (): void => {
      hear();
      end('setup');
    },
    /** Called when the network is back, or the set-up has changed. Delivery goes on after `waitMs`. */
    resume: (waitMs = 0): void => {
      if (silent > 0) gate.lift(); // it may have been the network
      silent = 0;
      hold('backoff', waitMs);
    },
    /** Ends the wait after the network is back: the page itself asks for a flush, or goes away. */
    hurry: (): void => end('backoff'),
  };
};

export type Pauses = ReturnType<typeof createPauses>;
