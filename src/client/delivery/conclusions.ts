import type { Outbox } from '../outbox/outbox.js';
import type { Entry } from '../outbox/parcel.js';
import type { DeliveryError, Outcome, OutboxRecord } from '../types.js';
import type { Batching } from './batching.js';
import type { Health, Started } from './health.js';
import type { Access, Attempt } from './sender.js';
import type { Troubles } from './troubles.js';
import type { Waiters } from './waiters.js';

interface Effects {
  outbox: Pick<Outbox, 'finish' | 'drop' | 'putBack' | 'abandon'>;
  access: Access | undefined;
  health: Health;
  troubles: Troubles;
  batching: Batching;
  waiters: Waiters;
  onOutcome: (record: OutboxRecord, outcome: Outcome, status: number) => void;
  onError: (error: DeliveryError) => void;
}

/** Records, each with what its attempt came to. */
type Attempts = readonly (readonly [entry: Entry, attempt: Attempt])[];

const entriesOf = (attempts: Attempts): Entry[] => attempts.map(([entry]) => entry);

/** What answers mean: for their records, for the destination and for the developer. */
export const createConclusions = (effects: Effects) => {
  const { outbox, access, health, troubles, batching, waiters, onOutcome, onError } = effects;
  /** A wrong set-up is told once. */
  let isTold = false;
  /** What was wrong with records of their own, as it was told. */
  const toldOf = new Set<string>();

  const setUp = (error: DeliveryError): void => {
    health.waitForSetUp();
    if (!isTold) onError(error);
    isTold = true;
  };

  const pass = (attempts: Attempts, started: Started): void => {
    isTold = false;
    access?.passed();
    health.passed(started, attempts.length);
    batching.passed();
    for (const [entry, { outcome, problem = '' }] of attempts) {
      troubles.forget(entry);
      if (outcome === 'delivered') outbox.finish(entry);
      else outbox.drop(entry, 'rejected', problem);
    }
  };

  /** True when only these records are answered so. */
  const refused = (entries: readonly Entry[], attempt: Attempt, started: Started): boolean => {
    const { status, problem = '' } = attempt;
    if (access?.isOutdated(attempt)) return false;
    if (health.refused(entries, status, started)) return true;
    access?.refused(attempt);
    setUp({ kind: 'setup', status, message: problem });
    return false;
  };

  /** The same. */
  const fail = (entries: readonly Entry[], attempt: Attempt, started: Started): boolean => {
    entries.forEach(outbox.putBack);
    return attempt.outcome === 'blocked'
      ? refused(entries, attempt, started)
      : health.failed(entries, attempt, started);
  };

  /** Blocked for values of their own: they wait, and nothing else does. */
  const setAside = (attempts: Attempts, started: Started): void => {
    health.setAside(entriesOf(attempts), started);
    for (const [entry, { status, problem = '' }] of attempts) {
      outbox.putBack(entry);
      if (!toldOf.has(problem)) onError({ kind: 'setup', status, message: problem });
      toldOf.add(problem);
    }
  };

  const report = ([entry, { outcome, status }]: Attempts[number]): void => {
    onOutcome(entry.record, outcome, status);
    waiters.count(outcome);
  };

  /** Each record has an answer of its own. */
  const concludeEach = (attempts: Attempts, started: Started): void => {
    const withOutcome = (...outcomes: Attempt['outcome'][]): Attempts =>
      attempts.filter(([, { outcome, isOwn }]) => outcomes.includes(outcome) && !isOwn);
    const passed = withOutcome('delivered', 'rejected');
    const failing = withOutcome('retry');
    const blocked = withOutcome('blocked');
    const own = attempts.filter(([, { isOwn }]) => isOwn);
    // First: what fails beside those that pass is trouble of its own.
    if (passed.length > 0) pass(passed, started);
    if (failing.length > 0) {
      // What the relay has not tried says nothing of its records: they go first when it is tried again.
      const tried = failing.filter(([, { status }]) => status > 0);
      const failed = tried.length > 0 ? tried : failing;
      for (const [entry] of failing) outbox.putBack(entry);
      // One failure, with the longest of the waits.
      const [longest] = failing.map(([, attempt]) => attempt).sort(byWait);
      fail(entriesOf(failed), longest!, started);
    }
    if (blocked.length > 0) fail(entriesOf(blocked), blocked[0]![1], started);
    if (own.length > 0) setAside(own, started);
    attempts.forEach(report);
  };

  /** The request as a whole came to this. */
  const concludeAll = (group: readonly Entry[], attempt: Attempt, started: Started): void => {
    const { outcome, status } = attempt;
    const attempts = group.map((entry) => [entry, attempt] as const);
    if (outcome === 'rejected' && group.length > 1) {
      health.passed(started, 0);
      if (status === 413) batching.shrink(group);
      batching.split(group);
      for (const entry of group) {
        outbox.putBack(entry);
        // Not counted: it goes again at once, alone.
        onOutcome(entry.record, 'retry', status);
      }
      return;
    }
    if (outcome === 'delivered' || outcome === 'rejected') pass(attempts, started);
    else if (fail(group, attempt, started)) batching.split(group);
    else batching.failed();
    attempts.forEach(report);
  };

  return {
    /** Sees to the records of a request that has come to its end. */
    conclude: (group: readonly Entry[], sent: Attempt | Attempt[], started: Started): void => {
      if (Array.isArray(sent)) {
        concludeEach(
          group.map((entry, i) => [entry, sent[i]!]),
          started,
        );
        // The browser goes on with it, and nobody here will hear of it: whoever comes next sees to it.
      } else if (sent.wasLeft) group.forEach(outbox.abandon);
      else concludeAll(group, sent, started);
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

export type Conclusions = ReturnType<typeof createConclusions>;

const byWait = (a: Attempt, b: Attempt): number => b.retryAfterMs - a.retryAfterMs;
