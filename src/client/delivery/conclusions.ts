import type { Entry } from '../outbox/parcel.js';
import type { DeliveryError } from '../types.js';
import type { Context } from './context.js';
import type { Started } from './health.js';
import type { Attempt } from './sender.js';

/** Records, each with what its attempt came to. */
type Attempts = readonly (readonly [entry: Entry, attempt: Attempt])[];

const SET_UP = 'set-up';
const UNREACHABLE = 'unreachable';

/** Those to which it applies, and the others. */
const divide = (
  attempts: Attempts,
  applies: (attempt: Attempt) => boolean,
): [applies: Attempts, others: Attempts] => [
  attempts.filter(([, attempt]) => applies(attempt)),
  attempts.filter(([, attempt]) => !applies(attempt)),
];

const isFinal = ({ outcome }: Attempt): boolean =>
  outcome === 'delivered' || outcome === 'rejected';

/** What the answers to requests mean for their records, for the destination and for the developer. */
export const createConclusions = (context: Context) => {
  const { outbox, health, troubles, batching, waiters, onError, onOutcome } = context;
  /** What the developer has been told of. */
  const told = new Set<string>();

  const tellOnce = (what: string, error: DeliveryError): void => {
    if (!told.has(what)) onError(error);
    told.add(what);
  };

  /** Told once until something passes. */
  const waitForSetUp = (error: DeliveryError): void => {
    health.waitForSetUp();
    tellOnce(SET_UP, error);
  };

  /** Delivered, or rejected for good: they have come to their end, and the service works. */
  const pass = (attempts: Attempts, started: Started): void => {
    told.delete(SET_UP);
    told.delete(UNREACHABLE);
    health.passed(started, attempts.length);
    batching.passed();
    for (const [entry, { outcome, status }] of attempts) {
      troubles.forget(entry);
      if (outcome === 'delivered') outbox.finish(entry);
      else outbox.drop(entry, 'rejected', `the service answered ${status}`);
    }
  };

  /** They wait for another attempt. True when only these records are answered so. */
  const fail = (entries: readonly Entry[], attempt: Attempt, started: Started): boolean => {
    const { outcome, status, problem, isUnlisted, isStale } = attempt;
    if (status > 0) told.delete(UNREACHABLE);
    if (isStale) return false;
    const isTheirs = health.failed(entries, attempt, started);
    const error = { kind: 'setup', status, message: problem } as const;
    if (isUnlisted) tellOnce(problem, error);
    else if (outcome === 'blocked' && !isTheirs) waitForSetUp(error);
    else if (status === 0 && health.pause()[0] === UNREACHABLE) {
      tellOnce(UNREACHABLE, { kind: UNREACHABLE, message: problem });
    }
    return isTheirs;
  };

  /** It was refused as a whole, and one record may be why: each goes again at once, alone. */
  const goAlone = (group: readonly Entry[], status: number, started: Started): void => {
    health.passed(started, 0);
    if (status === 413) batching.shrink(group);
    batching.split(group);
    for (const entry of group) {
      outbox.putBack(entry);
      onOutcome(entry.record, 'retry', status); // not counted as an attempt
    }
  };

  /** The request as a whole failed. */
  const failAll = (group: readonly Entry[], attempt: Attempt, started: Started): void => {
    if (fail(group, attempt, started)) batching.split(group);
    else batching.failed();
  };

  /** Each of them failed in its own way, in the same request. */
  const failEach = (attempts: Attempts, started: Started): void => {
    const [failing, blocked] = divide(attempts, ({ outcome }) => outcome === 'retry');
    if (failing.length > 0) {
      // What the relay has not tried says nothing of its records: they go first when it is tried again.
      const [tried, untried] = divide(failing, ({ status }) => status > 0);
      const entries = (tried.length > 0 ? tried : untried).map(([entry]) => entry);
      // One failure, with the longest of the waits.
      const [longest] = failing
        .map(([, attempt]) => attempt)
        .sort((a, b) => b.retryAfterMs - a.retryAfterMs);
      fail(entries, longest!, started);
    }
    for (const [entry, attempt] of blocked) fail([entry], attempt, started);
  };

  return {
    conclude: (
      group: readonly Entry[],
      sent: Attempt | Attempt[] | undefined,
      started: Started,
    ): void => {
      // The browser goes on with it, and nobody here will hear of it: whoever comes next sees to it.
      if (!sent) return group.forEach(outbox.abandon);
      const whole = Array.isArray(sent) ? undefined : sent;
      if (whole?.outcome === 'rejected' && group.length > 1)
        return goAlone(group, whole.status, started);
      const attempts: Attempts = group.map((entry, i) => [entry, whole ?? (sent as Attempt[])[i]!]);
      const [passed, failed] = divide(attempts, isFinal);
      // First: what fails beside those that pass is trouble of its own.
      if (passed.length > 0) pass(passed, started);
      for (const [entry] of failed) outbox.putBack(entry);
      if (!whole) failEach(failed, started);
      else if (failed.length > 0) failAll(group, whole, started);
      for (const [entry, { outcome, status }] of attempts) {
        onOutcome(entry.record, outcome, status);
        waiters.count(outcome);
      }
    },
    /** There is no token. */
    lacksToken: (message: string): void => waitForSetUp({ kind: 'token', message }),
    /** The set-up has changed. */
    reset: (): void => told.clear(),
  };
};

export type Conclusions = ReturnType<typeof createConclusions>;
export type Conclude = Conclusions['conclude'];
