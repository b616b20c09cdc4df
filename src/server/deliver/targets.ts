import { waitInTrouble } from '../../interface/backoff.js';
import type { BatchResult } from '../../interface/wire.js';
import type { Tell } from '../hooks.js';
import type { Incoming } from '../incoming.js';
import type { Taken } from '../queue/ports.js';
import type { Delivery, DeliverOptions } from './delivery.js';

/** What becomes of a record that was taken from a queue. */
export type Fate =
  | { fate: 'done' }
  /** It goes back into the queue, and nobody gets it before the delay is over. `isTried`: it has failed. */
  | { fate: 'back'; delayMs: number; isTried: boolean }
  | { fate: 'dead'; reason: 'rejected' | 'expired'; status: number };

/** What a consumer delivers the records of its queue to. */
export interface Target {
  /** Milliseconds until it makes sense to take records; 0 if it does now. */
  waitMs: () => number;
  /** Ends all waits at once. */
  tryNow: () => void;
  /** Delivers records, and returns a promise for each. */
  deliver: (
    taken: readonly Taken[],
    options: DeliverOptions,
    settled: readonly Promise<void>[],
  ) => readonly Promise<Fate>[];
}

interface ServiceEffects {
  delivery: Delivery;
  /** Milliseconds after which a record is given up. */
  maxAge: number;
  tell: Tell;
  now: () => number;
}

/** Delivers to another service, record by record. */
export const createServiceTarget = ({ delivery, maxAge, tell, now }: ServiceEffects): Target => {
  const fateOf = ({ attempts, record, failingMs }: Taken, result: BatchResult): Fate => {
    const { outcome, status, untried, retry_after: waitS = 0 } = result;
    const isPaused = delivery.waitMs() > 0;
    // Nothing is taken during a pause of the service, so an untried record need not wait any longer than that.
    if (untried) return { fate: 'back', delayMs: isPaused ? 0 : waitS * 1_000, isTried: false };
    tell.metric('records', 1, { side: 'out', outcome });
    if (outcome === 'delivered' || outcome === 'accepted') return { fate: 'done' };
    if (outcome === 'rejected') return { fate: 'dead', reason: 'rejected', status };
    // Only a record that has failed can be too old: the clock of this machine may be days ahead.
    if (now() - record.at > maxAge && !isPaused) return { fate: 'dead', reason: 'expired', status };
    const troubleMs = failingMs ?? (attempts > 1 ? now() - record.at : 0);
    return { fate: 'back', delayMs: waitInTrouble(troubleMs, Math.random()), isTried: true };
  };

  return {
    waitMs: delivery.waitMs,
    tryNow: delivery.tryNow,
    deliver: (taken, options, settled) => {
      const records = taken.map(({ record, attempts }, index) => ({
        ...record,
        queued: { tries: attempts - 1, at: record.at, settled: settled[index]! },
      }));
      return delivery
        .deliver(records, options)
        .map(async (result, index) => fateOf(taken[index]!, await result));
    },
  };
};

/** A store in this process. A record that the database refuses is kept there among the refused. */
export interface StoreTarget {
  /**
   * Writes records in one transaction, except those of senders that have to wait. Rejects if the database does not
   * work; then no record is stored.
   */
  write(
    records: readonly Incoming[],
  ): Promise<
    readonly { outcome: 'stored' | 'known' | 'dead' }[]
  >;
}

/** The longest pause while the store fails. A try is one batch, and it shows soon that the store works again. */
const LONGEST_PAUSE_MS = 15_000;

interface StoreEffects {
  store: StoreTarget;
  tell: Tell;
  /** The clock for waits. */
  ticks: () => number;
}

/**
 * Writes into a store, a batch at a time. While the store fails, all records stay in the queue, however old they are. After
 * a failure the records of the next batch are written one by one, since a single one may spoil its batch. The store knows
 * repeats, so a record may be written again.
 */
export const createStoreTarget = ({ store, tell, ticks }: StoreEffects): Target => {
  /** The first failure since the last success, and the last failure. */
  let failingSince: number | undefined;
  let failedAt = -Infinity;
  let until = 0;

  const fateOf = (one: Awaited<ReturnType<StoreTarget['write']>>[number]): Fate => {
    const outcome = one.outcome === 'dead' ? 'rejected' : 'delivered';
    tell.metric('records', 1, { side: 'out', outcome });
    return { fate: 'done' };
  };
  const write = async (taken: readonly Taken[]): Promise<Fate[]> => {
    const began = ticks();
    const written = await store.write(taken.map(({ record }) => record));
    // A write from before the last failure says nothing about now.
    if (began >= failedAt) {
      failingSince = undefined;
      until = 0;
    }
    return written.map(fateOf);
  };
  /** Notes a failure, which the store has reported itself. Answers how long to wait. */
  const failed = (): number => {
    failedAt = ticks();
    failingSince ??= failedAt;
    const waitMs = waitInTrouble(failedAt - failingSince, Math.random());
    until = failedAt + Math.min(waitMs, LONGEST_PAUSE_MS);
    return until - failedAt;
  };
  const untried = (): Fate => ({ fate: 'back', delayMs: 0, isTried: false });

  const writeTogether = async (taken: readonly Taken[]): Promise<Fate[]> => {
    try {
      return await write(taken);
    } catch {
      failed();
      return taken.map(untried);
    }
  };
  /** Ends when two have failed in a row, or the first: then it is the store. Ends too when the consumer stops. */
  const writeEach = async (taken: readonly Taken[], options: DeliverOptions): Promise<Fate[]> => {
    const fates: Fate[] = [];
    let hasPassed = false;
    for (const one of taken) {
      if (options.until === -Infinity) break;
      try {
        fates.push(...(await write([one])));
        hasPassed = true;
      } catch {
        fates.push({ fate: 'back', delayMs: failed(), isTried: true });
        if (!hasPassed) break;
        hasPassed = false;
      }
    }
    return [...fates, ...taken.slice(fates.length).map(untried)];
  };

  return {
    waitMs: () => Math.max(0, until - ticks()),
    tryNow: () => void (until = 0),
    deliver: (taken, options) => {
      const fates = failingSince === undefined ? writeTogether(taken) : writeEach(taken, options);
      return taken.map(async (_, index) => (await fates)[index]!);
    },
  };
};
