import type { Dropped } from '../hooks.js';
import type { Incoming } from '../incoming.js';

/** A record in a queue. */
export interface QueuedRecord extends Incoming {
  /** When the server took it, or an operator sent it again: milliseconds since the epoch. */
  at: number;
}

/** A record that a consumer has taken. Nobody else gets it until its time is over. */
export interface Taken {
  /** Says to the queue who has taken it. */
  receipt: string;
  record: QueuedRecord;
  /** How often it has been taken, this time included; not counting when it was given back untried. */
  attempts: number;
  /** Milliseconds since it failed for the first time, by the queue's clock; 0 if it has not. */
  failingMs?: number;
}

/** A record that a consumer gives back to the queue. */
export interface GivenBack {
  taken: Taken;
  /** Nobody gets it before that. */
  delayMs: number;
  /** It has failed. Otherwise it comes back as if it had not been taken. */
  isTried: boolean;
}

/** How full a queue is: what to watch, and to alert on. */
export interface QueueSize {
  /** Records that are not delivered yet, including those that are being sent. */
  waiting: number;
  /** Dead letters. */
  dead: number;
  /** When the oldest waiting record was put, milliseconds since the epoch; missing where none waits. */
  oldest?: number;
}

/**
 * What became of a record that was put. `known`: it is in the queue, or was put before. The last two: there was no room for
 * it, in the queue or for its sender.
 */
export type Placed = 'queued' | 'known' | 'full' | 'full of sender';

/** What became of records that were put, in their order, and how many ids were forgotten because there were too many. */
export interface Put {
  placed: readonly Placed[];
  dropped?: Dropped;
}

/** The side of a durable queue on which a server puts records. */
export interface Putter {
  /**
   * Settles when all records that were placed are durable; rejects if none was placed. A queue that knows no repeats may answer nothing: then all are queued, and a record that comes again is sent
   * again. The records are of one sender.
   */
  put(records: readonly QueuedRecord[]): Promise<Put | void>;
  /**
   * If the queue can keep one: a secret that is made with it and is the same in all processes. Servers make the words
   * for senders with it, so that all of them have one word for a sender. Order and bounds of a sender depend on that.
   */
  secret?(): Promise<string>;
}

/** A durable queue between a relay's answer and the service. */
export interface Queue extends Putter {
  /**
   * Takes records that are due: those that have not failed (`fresh`) or, where there are none, those that have
   * (`failed`); `only` one of the two where it is asked for. Nobody else gets them for `visibilityMs`.
   *
   * Identifies of one user and sender come one at a time, in the order they were put. An event of that user and sender
   * comes when no identify waits that was put before it, or when that one has failed three times. All else comes as it
   * is due, the oldest first.
   */
  take(
    limit: number,
    visibilityMs: number,
    options?: { only?: 'fresh' | 'failed' | undefined },
  ): Promise<Taken[]>;
  /** Removes delivered records, even when their time is over and another consumer has taken them. */
  done(taken: readonly Taken[]): Promise<void>;
  /** Does nothing for a record that another consumer has taken since its time was over. */
  giveBack(back: readonly GivenBack[]): Promise<void>;
  /**
   * Moves a record that cannot be delivered to the dead letters, with the reason. May answer how many dead letters
   * were deleted because there were too many.
   */
  bury(taken: Taken, reason: string): Promise<Dropped | void>;
  /** If the queue can let all records be taken at once that have failed and wait for their next try. */
  tryNow?(): Promise<void>;
  /** If the queue can say how full it is. */
  size?(): Promise<QueueSize>;
  /** If the queue can look whether what it stands on may lose records. Answers in words for the operator. */
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

/** What an operator can do about the dead letters of a queue. Ids that are not there are passed over. */
export interface DeadLetters {
  /** The oldest first, at most `limit` (100) of them, those behind the id `after`. */
  list(options?: { limit?: number; after?: string }): Promise<DeadLetter[]>;
  /**
   * Puts them at the end of the queue, as if they were new, and answers how many there were. An error named
   * `QueueFullError` says that the queue has no room and that all of them are dead letters still.
   */
  resend(ids: readonly string[]): Promise<number>;
  /** Deletes them for good, and answers how many there were. */
  purge(ids: readonly string[]): Promise<number>;
}

/** Thrown when dead letters cannot be sent again for want of room. All of them are dead letters still. */
export class QueueFullError extends Error {
  override name = 'QueueFullError' as const;

  constructor({ maxWaiting }: AllOf<QueueBounds>) {
    super(`the queue is full: \`maxWaiting\` is ${maxWaiting} records of up to a KiB each`);
  }
}

/** Bounds of which none is left out. */
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

/** The bounds, where options leave some out. */
export const boundsOf = (given: QueueBounds): AllOf<QueueBounds> => ({
  maxWaiting: given.maxWaiting ?? 1_000_000,
  maxWaitingOfClient: given.maxWaitingOfClient ?? 50_000,
  maxDead: given.maxDead ?? 100_000,
  maxDeadOfClient: given.maxDeadOfClient ?? 10_000,
});

/** Which ids of records a queue knows, so that a record that comes again is not queued again. */
export interface IdBounds {
  /**
   * Milliseconds for which an id is known; 0 is as long as the record waits, enough for a queue that empties into a store.
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

/** An identify that has failed so often holds up no event of its user. Events carry the id of the user themselves. */
export const PATIENCE = 3;
/** No delay is longer. A record that waits for longer was stored before the clock was set back. */
export const LONGEST_WAIT_MS = 600_000;
