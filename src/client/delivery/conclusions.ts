import type { Entry } from '../outbox/parcel.js';
import type { DeliveryError } from '../types.js';
import type { Context } from './context.js';
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

  /** Records that were delivered or rejected: they have come to their end, and the service works. */
  const pass = (attempts: Attempts): void => {
    told.delete(UNREACHABLE);
    health.passed();
    for (const [entry, { outcome, status }] of attempts) {
      troubles.forget(entry);
      if (outcome === 'delivered') outbox.finish(entry);
      else outbox.drop(entry, 'rejected', `the service answered ${status}`);
    }
  };

  /** What a failed attempt means for the destination and for the developer. */
  const fail = ({ record }: Entry, attempt: Attempt): void => {
    const { outcome, status, problem, isUnlisted } = attempt;
    if (status > 0) told.delete(UNREACHABLE);
    if (!isUnlisted) health.failed(attempt, record.failedSince);
    const error = { kind: 'setup', status, message: problem } as const;
    if (isUnlisted) tellOnce(problem, error);
    else if (outcome === 'blocked') tellOnce(SET_UP, error);
    else if (health.isUnreachable()) {
      tellOnce(UNREACHABLE, { kind: UNREACHABLE, message: problem });
    }
  };

  /** A batch was refused as a whole, perhaps for one of its records. It is sent again at once, in smaller ones. */
  const sendSmaller = (group: readonly Entry[], status: number): void => {
    if (status === 413) batching.shrink(group);
    for (const entry of group) {
      outbox.putBack(entry);
      onOutcome(entry.record, 'retry', status); // not counted as an attempt
    }
  };

  return {
    conclude: (group: readonly Entry[], sent: Attempt | Attempt[] | undefined): void => {
      // The browser goes on with the request, but this page will not see its answer.
      if (!sent) return group.forEach(outbox.abandon);
      const whole = Array.isArray(sent) ? undefined : sent;
      if (whole?.outcome === 'rejected' && group.length > 1)
        return sendSmaller(group, whole.status);
      const attempts: Attempts = group.map((entry, i) => [entry, whole ?? (sent as Attempt[])[i]!]);
      const [passed, failed] = divide(attempts, isFinal);
      const [stale, failures] = divide(failed, ({ isStale }) => !!isStale);
      for (const [entry, attempt] of failures) fail(entry, attempt);
      // Where the relay has tried some, those that it has not tried go before them in the next attempt.
      const [tried, untried] = divide(failures, ({ status }) => status > 0);
      troubles.fail((tried.length > 0 ? tried : untried).map(([entry]) => entry));
      if (tried.length > 0) for (const [{ record }] of untried) record.attempts--;
      for (const [entry] of [...stale, ...failures]) outbox.putBack(entry);
      // This comes last: where the service has taken some, only those that failed wait.
      if (passed.length > 0) pass(passed);
      for (const [entry, { outcome, status }] of attempts) {
        onOutcome(entry.record, outcome, status);
        waiters.count(outcome);
      }
    },
    /** Called when there is no token. */
    lacksToken: (message: string): void => {
      health.lacksToken();
      tellOnce(SET_UP, { kind: 'token', message });
    },
    /** Called when the set-up has changed: the developer may be told again. */
    reset: (): void => told.clear(),
  };
};

export type Conclusions = ReturnType<typeof createConclusions>;
export type Conclude = Conclusions['conclude'];
