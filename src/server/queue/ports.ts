import type { Dropped } from '../hooks.js';
import type { Incoming } from '../incoming.js';

/** A record in a queue. */
export interface QueuedRecord extends Incoming {
  /** When the server took it, or an operator sent it again: milliseconds since the epoch. */
  at: number;
}

/** A record that a consumer has taken. For some time nobody else gets it. */
export interface Taken {
  /** Names this take. The queue compares it when the record comes back. */
  receipt: string;
  record: QueuedRecord;
  /** How often it has been taken, this time included. Takes after which it was given back untried do not count. */
  attempts: number;
  /** Milliseconds since it failed for the first time, by the queue's clock; 0 if it has not. */
  failingMs?: number;
}

/** A record that a consumer gives back to the queue. */
export interface GivenBack {
  taken: Taken;
  /** Nobody gets it before this time is over. */
  delayMs: number;
  /** It has failed. Otherwise it comes back as if it had not been taken. */
  isTried: boolean;
}

/** How full a queue is, for metrics and alerts. */
export interface QueueSize {
  /** Records that are not delivered yet, including those that are being sent. */
  waiting: number;
  /** Dead letters. */
  dead: number;
  /** When the oldest waiting record was put, milliseconds since the epoch; missing if none waits. */
  oldest?: number;
}

/**
 * What became of a record that was put. `known`: it waits in the queue already, or its id is remembered. `full` and
 * `full of sender`: there was no room for it, in the queue or for its sender.
 */
export type Placed = 'queued' | 'known' | 'full' | 'full of sender';

/** What became of the records of a call, in their order, and how many ids were deleted because there were too many. */
export interface Put {
  placed: readonly Placed[];
  dropped?: Dropped;
}

/** The side of a durable queue on which a server puts records. */
export interface Putter {
  /**
   * Settles when the records are durable; rejects if none was put. All records are of one sender. A queue that does not
   * remember ids may return nothing: then all were put, and a repeat is sent again.
   */
  put(records: readonly QueuedRecord[]): Promise<Put | void>;
  /**
   * If the queue can keep one: a secret that is the same in all processes. Servers make the words for senders with it,
   * so that a sender has the same word everywhere. Its order and its bounds depend on that.
   */
  secret?(): Promise<string>;
}

/** A durable queue between the answer of a server and the delivery of its records. */
export interface Queue extends Putter {
  /**
   * Takes records that are due: those that have not failed (`fresh`) or, if there are none, those that have (`failed`).
   * `only` chooses one of the two. Nobody else gets them for `visibilityMs`.
   *
   * Identifies of one user and sender come one at a time, in the order they were put. An event of that user and sender
   * comes when no identify put before it waits, or when that identify has failed three times. All other records come
   * when they are due, the oldest first.
   */
  take(
    limit: number,
    visibilityMs: number,
    options?: { only?: 'fresh' | 'failed' | undefined },
  ): Promise<Taken[]>;
  /** Removes delivered records, even if their time is over and another consumer has taken them. */
  done(taken: readonly Taken[]): Promise<void>;
  /** Puts records back. A record whose time is over and that another consumer has taken is left alone. */
  giveBack(back: readonly GivenBack[]): Promise<void>;
  /**
   * Moves a record that cannot be delivered to the dead letters, with the reason. May answer how many dead letters
   * were deleted because there were too many.
   */
  bury(taken: Taken, reason: string): Promise<Dropped | void>;
  /** If the queue can do it: makes all failed records due at once. */
  tryNow?(): Promise<void>;
  /** If the queue can say it: how full it is. */
  size?(): Promise<QueueSize>;
  /** If the queue can check it: whether its set-up may lose records, in words for the operator. */
  check?(): Promise<readonly string[]>;
}

/** A record that could not be delivered. */
export interface DeadLetter {
  /** The queue's own name for it. */
  id: string;
  record: QueuedRecord;
  /** `rejected` or `expired`, with the status of the last answer. */
  reason: string;
  /** When it was given up, milliseconds since the epoch. */
  diedAt: number;
}

/** What an operator can do with the dead letters of a queue. Unknown ids are ignored. */
export interface DeadLetters {
  /** The oldest first, at most `limit` (100) of them, those behind the id `after`. */
  list(options?: { limit?: number; after?: string }): Promise<DeadLetter[]>;
  /**
   * Puts them at the end of the queue, as if they were new, and returns how many there were. Rejects with a
   * `QueueFullError` if the queue has no room; then all of them still are dead letters.
   */
  resend(ids: readonly string[]): Promise<number>;
  /** Deletes them for good, and returns how many there were. */
  purge(ids: readonly string[]): Promise<number>;
}

/** There is no room in the queue to send dead letters again. All of them still are dead letters. */
export class QueueFullError extends Error {
  override name = 'QueueFullError' as const;

  constructor({ maxWaiting }: AllOf<QueueBounds>) {
    super(`the queue is full: \`maxWaiting\` is ${maxWaiting} records of up to a KiB each`);
  }
}

/** Bounds without gaps. */
type AllOf<Bounds> = { [Name in keyof Bounds]-?: number };

/** How much a queue keeps. A record counts once for each KiB of it. */
export interface QueueBounds {
  /** Records that may wait; further ones are answered 503. @default 1000000 */
  maxWaiting?: number | undefined;
  /** Records of one client that may wait; further ones are answered 503. @default 50000 */
  maxWaitingOfClient?: number | undefined;
  /** Dead letters that are kept; the oldest go first. @default 100000 */
  maxDead?: number | undefined;
  /** Dead letters of one client that are kept; its oldest go first. @default 10000 */
  maxDeadOfClient?: number | undefined;
}

/** The bounds, with defaults for those that are not given. */
export const boundsOf = (given: QueueBounds): AllOf<QueueBounds> => ({
  maxWaiting: given.maxWaiting ?? 1_000_000,
  maxWaitingOfClient: given.maxWaitingOfClient ?? 50_000,
  maxDead: given.maxDead ?? 100_000,
  maxDeadOfClient: given.maxDeadOfClient ?? 10_000,
});

/** Which ids a queue remembers, so that a repeat is not queued again. */
export interface IdBounds {
  /**
   * Milliseconds for which an id is known; 0 is as long as the record waits, enough for a queue in front of a store.
   * @default 604800000 (7 days)
   */
  idAge?: number | undefined;
  /** Ids that are known; beyond them the client that has the most loses its oldest. @default 5000000 */
  maxIds?: number | undefined;
  /** Ids of one client that are known; its oldest go first. @default 500000 */
  maxIdsOfClient?: number | undefined;
}

export const idBoundsOf = (given: IdBounds): AllOf<IdBounds> => ({
  idAge: given.idAge ?? 7 * 86_400_000,
  maxIds: given.maxIds ?? 5_000_000,
  maxIdsOfClient: given.maxIdsOfClient ?? 500_000,
});

/** The longest delay. A record with a longer one was stored before the clock was set back. */
export const LONGEST_WAIT_MS = 600_000;
