import type { Entry } from '../outbox/parcel.js';
import type { DeliveryError } from '../types.js';
import type { Context } from './context.js';
import type { Started } from './health.js';
import type { Attempt } from './sender.js';

/** Records, each with what its attempt came to. */
type Attempts = readonly (readonly [entry: Entry, attempt: Attempt])[];

const SET_UP = 'set-up';
const UNREACHABLE = 'unreachable';

const entriesOf = (attempts: Attempts): Entry[] => attempts.map(([entry]) => entry);

const isFinal = ({ outcome }: Attempt): boolean =>
  outcome === 'delivered' || outcome === 'rejected';

/** What the answers to requests mean for their records, for the destination and for the developer. */
export const createConclusions = (context: Context) => {
  const { outbox, health, troubles, batching, waiters, now, onError, onOutcome } = context;
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
    const { outcome, status, problem, isOwn, isStale } = attempt;
    if (status > 0) told.delete(UNREACHABLE);
    if (isStale) return false;
    const isTheirs = health.failed(entries, attempt, started);
    const error = { kind: 'setup', status, message: problem } as const;
    if (isOwn) tellOnce(problem, error);
    else if (outcome === 'blocked' && !isTheirs) waitForSetUp(error);
    else if (status === 0 && health.pause(now())[0] === UNREACHABLE) {
      tellOnce(UNREACHABLE, { kind: UNREACHABLE, message: problem });
    }
    return isTheirs;
  };

  /** True when what failed is trouble of these records alone; nothing where none failed. */
  const concludeEach = (attempts: Attempts, started: Started): boolean | undefined => {
    const those = (belongs: (attempt: Attempt) => boolean): Attempts =>
      attempts.filter(([, attempt]) => belongs(attempt));
    const passed = those(isFinal);
    const failing = those(({ outcome }) => outcome === 'retry');
    const blocked = those(({ outcome, isOwn }) => outcome === 'blocked' && !isOwn);
    let isTheirs: boolean | undefined;
    // First: what fails beside those that pass is trouble of its own.
    if (passed.length > 0) pass(passed, started);
    for (const [entry] of those((attempt) => !isFinal(attempt))) outbox.putBack(entry);
    if (failing.length > 0) {
      // What the relay has not tried says nothing of its records: they go first when it is tried again.
      const tried = failing.filter(([, { status }]) => status > 0);
      // One failure, with the longest of the waits.
      const [longest] = failing
        .map(([, attempt]) => attempt)
        .sort((a, b) => b.retryAfterMs - a.retryAfterMs);
      isTheirs = fail(entriesOf(tried.length > 0 ? tried : failing), longest!, started);
    }
    if (blocked.length > 0) isTheirs = fail(entriesOf(blocked), blocked[0]![1], started);
    for (const [entry, attempt] of those(({ isOwn }) => !!isOwn)) fail([entry], attempt, started);
    for (const [entry, { outcome, status }] of attempts) {
      onOutcome(entry.record, outcome, status);
      waiters.count(outcome);
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

  /** The request as a whole came to this. */
  const concludeAll = (group: readonly Entry[], attempt: Attempt, started: Started): void => {
    const { outcome, status } = attempt;
    if (outcome === 'rejected' && group.length > 1) return goAlone(group, status, started);
    const isTheirs = concludeEach(
      group.map((entry) => [entry, attempt]),
      started,
    );
    if (isTheirs) batching.split(group);
    else if (isTheirs === false) batching.failed();
  };

  return {
    conclude: (
      group: readonly Entry[],
      sent: Attempt | Attempt[] | undefined,
      started: Started,
    ): void => {
      // The browser goes on with it, and nobody here will hear of it: whoever comes next sees to it.
      if (!sent) group.forEach(outbox.abandon);
      else if (Array.isArray(sent)) {
        concludeEach(
          group.map((entry, i) => [entry, sent[i]!]),
          started,
        );
      } else concludeAll(group, sent, started);
    },
    /** There is no token. */
    lacksToken: (message: string): void => waitForSetUp({ kind: 'token', message }),
    /** The set-up has changed. */
    reset: (): void => told.clear(),
  };
};

export type Conclusions = ReturnType<typeof createConclusions>;
export type Conclude = Conclusions['conclude'];
