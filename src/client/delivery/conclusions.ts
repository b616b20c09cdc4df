import type { Entry } from '../outbox/parcel.js';
import type { DeliveryError } from '../types.js';
import type { Context } from './context.js';
import type { Started } from './health.js';
import type { Attempt } from './sender.js';

/** Records, each with its attempt. */
type Attempts = readonly (readonly [entry: Entry, attempt: Attempt])[];

const SET_UP = 'set-up';
const UNREACHABLE = 'unreachable';

/** The attempts to which the condition applies, and the others. */
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
  /** The errors that the developer has been told of, and that have not ended since. */
  const told = new Set<string>();

  const tellOnce = (what: string, error: DeliveryError): void => {
    if (!told.has(what)) onError(error);
    told.add(what);
  };

  /** The set-up is wrong. The developer is told once, until a request passes. */
  const waitForSetUp = (error: DeliveryError): void => {
    health.waitForSetUp();
    tellOnce(SET_UP, error);
  };

  /** Records that were delivered or rejected: they have come to their end, and the service works. */
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

  /** Records that wait for another attempt. Returns true if the trouble is theirs alone, not the destination's. */
  const fail = (entries: readonly Entry[], attempt: Attempt, started: Started): boolean => {
    const { outcome, status, problem, isUnlisted, isStale } = attempt;
    if (status > 0) told.delete(UNREACHABLE);
    if (isStale) return false;
    const isTheirs = health.failed(entries, attempt, started);
    const error = { kind: 'setup', status, message: problem } as const;
    if (isUnlisted) tellOnce(problem, error);
    else if (outcome === 'blocked' && !isTheirs) waitForSetUp(error);
    else if (health.pause()[0] === UNREACHABLE) {
      tellOnce(UNREACHABLE, { kind: UNREACHABLE, message: problem });
    }
    return isTheirs;
  };

  /** A batch was refused as a whole, perhaps for one of its records: each is sent again at once, alone. */
  const goAlone = (group: readonly Entry[], status: number, started: Started): void => {
    health.passed(started, 0);
    if (status === 413) batching.shrink(group);
    batching.split(group);
    for (const entry of group) {
      outbox.putBack(entry);
      onOutcome(entry.record, 'retry', status); // not counted as an attempt
    }
  };

  /** A request failed as a whole. */
  const failAll = (group: readonly Entry[], attempt: Attempt, started: Started): void => {
    if (fail(group, attempt, started)) batching.split(group);
    else batching.failed();
  };

  /** Records of one request that failed, each with an answer of its own. */
  const failEach = (attempts: Attempts, started: Started): void => {
    const [failing, blocked] = divide(attempts, ({ outcome }) => outcome === 'retry');
    if (failing.length > 0) {
      // Records that the relay has not tried do not count as failed: they go first in the next attempt.
      const [tried, untried] = divide(failing, ({ status }) => status > 0);
      const entries = (tried.length > 0 ? tried : untried).map(([entry]) => entry);
      // They count as one failure, with the longest of the waits.
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
      // The browser goes on with the request, but this page will not see its answer.
      if (!sent) return group.forEach(outbox.abandon);
      const whole = Array.isArray(sent) ? undefined : sent;
      if (whole?.outcome === 'rejected' && group.length > 1)
        return goAlone(group, whole.status, started);
      const attempts: Attempts = group.map((entry, i) => [entry, whole ?? (sent as Attempt[])[i]!]);
      const [passed, failed] = divide(attempts, isFinal);
      // This comes first: a record that fails while others pass has a trouble of its own.
      if (passed.length > 0) pass(passed, started);
      for (const [entry] of failed) outbox.putBack(entry);
      if (!whole) failEach(failed, started);
      else if (failed.length > 0) failAll(group, whole, started);
      for (const [entry, { outcome, status }] of attempts) {
        onOutcome(entry.record, outcome, status);
        waiters.count(outcome);
      }
    },
    /** Called when there is no token. */
    lacksToken: (message: string): void => waitForSetUp({ kind: 'token', message }),
    /** Called when the set-up has changed: the developer may be told again. */
    reset: (): void => told.clear(),
  };
};

export type Conclusions = ReturnType<typeof createConclusions>;
export type Conclude = Conclusions['conclude'];
