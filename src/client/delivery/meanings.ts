import type { Outbox } from '../outbox/outbox.js';
import type { Entry } from '../outbox/parcel.js';
import type { DeliveryError } from '../types.js';
import type { Batching } from './batching.js';
import type { Health, Started } from './health.js';
import type { Access, Attempt } from './sender.js';
import type { Troubles } from './troubles.js';

interface Effects {
  outbox: Pick<Outbox, 'finish' | 'drop' | 'putBack'>;
  access: Access | undefined;
  health: Health;
  troubles: Troubles;
  batching: Batching;
  onError: (error: DeliveryError) => void;
}

/** Records, each with what its attempt came to. */
export type Attempts = readonly (readonly [entry: Entry, attempt: Attempt])[];

export const entriesOf = (attempts: Attempts): Entry[] => attempts.map(([entry]) => entry);

/** What each kind of answer means for the records, for the destination and for the developer. */
export const createMeanings = (effects: Effects) => {
  const { outbox, access, health, troubles, batching, onError } = effects;
  /** A wrong set-up is told once. */
  let isTold = false;
  /** What was wrong with records of their own, as it was told. */
  const toldOf = new Set<string>();

  const setUp = (error: DeliveryError): void => {
    health.waitForSetUp();
    if (!isTold) onError(error);
    isTold = true;
  };

  /** True when only these records are answered so. */
  const refused = (entries: readonly Entry[], attempt: Attempt, started: Started): boolean => {
    const { status, problem } = attempt;
    if (access?.refused(attempt)) return false;
    if (health.refused(entries, status, started)) return true;
    setUp({ kind: 'setup', status, message: problem });
    return false;
  };

  return {
    /** Delivered, or rejected for good: they have come to their end, and the service works. */
    pass: (attempts: Attempts, started: Started): void => {
      isTold = false;
      access?.passed();
      health.passed(started, attempts.length);
      batching.passed();
      for (const [entry, { outcome, status }] of attempts) {
        troubles.forget(entry);
        if (outcome === 'delivered') outbox.finish(entry);
        else outbox.drop(entry, 'rejected', `the answer was ${status}`);
      }
    },
    /** They wait for another attempt. True when only these records are answered so. */
    fail: (entries: readonly Entry[], attempt: Attempt, started: Started): boolean => {
      entries.forEach(outbox.putBack);
      return attempt.outcome === 'blocked'
        ? refused(entries, attempt, started)
        : health.failed(entries, attempt, started);
    },
    /** Blocked for values of their own: they wait, and nothing else does. */
    setAside: (attempts: Attempts, started: Started): void => {
      health.setAside(entriesOf(attempts), started);
      for (const [entry, { status, problem }] of attempts) {
        outbox.putBack(entry);
        if (!toldOf.has(problem)) onError({ kind: 'setup', status, message: problem });
        toldOf.add(problem);
      }
    },
    /** There is no token. */
    lacksToken: (message: string): void => setUp({ kind: 'token', message }),
    /** The set-up has changed. */
    reset: (): void => {
      isTold = false;
      toldOf.clear();
    },
  };
};

export type Meanings = ReturnType<typeof createMeanings>;
