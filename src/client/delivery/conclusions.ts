import type { Outbox } from '../outbox/outbox.js';
import type { Entry } from '../outbox/parcel.js';
import type { Outcome, OutboxRecord } from '../types.js';
import type { Batching } from './batching.js';
import type { Health, Started } from './health.js';
import { entriesOf, type Attempts, type Meanings } from './meanings.js';
import type { Attempt } from './sender.js';
import type { Waiters } from './waiters.js';

interface Effects {
  outbox: Pick<Outbox, 'putBack' | 'abandon'>;
  meanings: Meanings;
  health: Health;
  batching: Batching;
  waiters: Waiters;
  onOutcome: (record: OutboxRecord, outcome: Outcome, status: number) => void;
}

const byWait = (a: Attempt, b: Attempt): number => b.retryAfterMs - a.retryAfterMs;

/** Sees to the records of requests that have come to their end. */
export const createConclusions = (effects: Effects) => {
  const { outbox, meanings, health, batching, waiters, onOutcome } = effects;

  /** True when what failed is trouble of these records alone; nothing where none failed. */
  const concludeEach = (attempts: Attempts, started: Started): boolean | undefined => {
    const withOutcome = (...outcomes: Attempt['outcome'][]): Attempts =>
      attempts.filter(([, { outcome, isOwn }]) => outcomes.includes(outcome) && !isOwn);
    const passed = withOutcome('delivered', 'rejected');
    const failing = withOutcome('retry');
    const blocked = withOutcome('blocked');
    const own = attempts.filter(([, { isOwn }]) => isOwn);
    let isTheirs: boolean | undefined;
    // First: what fails beside those that pass is trouble of its own.
    if (passed.length > 0) meanings.pass(passed, started);
    if (failing.length > 0) {
      // What the relay has not tried says nothing of its records: they go first when it is tried again.
      const tried = failing.filter(([, { status }]) => status > 0);
      const failed = tried.length > 0 ? tried : failing;
      for (const [entry] of failing) outbox.putBack(entry);
      // One failure, with the longest of the waits.
      const [longest] = failing.map(([, attempt]) => attempt).sort(byWait);
      isTheirs = meanings.fail(entriesOf(failed), longest!, started);
    }
    if (blocked.length > 0) isTheirs = meanings.fail(entriesOf(blocked), blocked[0]![1], started);
    if (own.length > 0) meanings.setAside(own, started);
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

  return (
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
  };
};

export type Conclude = ReturnType<typeof createConclusions>;
