import type { BatchRecord, BatchResult } from '../../interface/wire.js';

/** What is known of a record: nothing, that another attempt has begun, or what it came to. */
export type Sighting =
  { state: 'new' } | { state: 'begun' } | { state: 'done'; result: BatchResult };

/**
 * The records a relay has passed on, so that a repeat gets the first answer and is not sent again. Shared
 * by all processes of a relay, or each knows only its own. The ids here are keys, `event:<id>:<project>` for
 * one: an id that a page gives belongs to one type of record of one project.
 */
export interface Seen {
  /**
   * Claims ids that are new, each in one atomic step: of two callers with one id, one hears `new` and the
   * other `begun`. A claim that is neither finished nor forgotten ends by itself after `claimMs`, so that
   * a dead process does not hold a record for ever. The ids are distinct; one sighting an id, in order.
   * `client` says whose records these are, as far as that is known: a store of a bounded size must not let
   * one client push out what the others have.
   */
  begin(ids: readonly string[], claimMs: number, client?: string): Promise<Sighting[]>;
  /**
   * Keeps what claimed records came to: `delivered`, `rejected`, or `accepted` where a queue has them.
   * A later result takes the place of an earlier one, but `accepted` never of the others: a consumer may be
   * done with a record before the relay that took it has said so.
   */
  finish(results: readonly BatchResult[], client?: string): Promise<void>;
  /** Gives claims up: the record was not taken, and may come again. */
  forget(ids: readonly string[]): Promise<void>;
}

/** A record in a queue. */
export interface QueuedRecord extends BatchRecord {
  /** When the relay took it, or an operator sent it again: milliseconds since the epoch. */
  at: number;
}

/** A record a consumer has taken, and nobody else may have until its time is over. */
export interface Taken {
  /** The queue's own name for it. */
  receipt: string;
  record: QueuedRecord;
  /** How often it has been taken, this time included. */
  attempts: number;
}

/** How full a queue is: what to watch, and to alert on. */
export interface QueueSize {
  /** Records that are not delivered yet, those under way included. */
  waiting: number;
  /** Dead letters. */
  dead: number;
  /** When the oldest waiting record was put, milliseconds since the epoch; missing where none waits. */
  oldest?: number;
}

/** The end of a durable queue that a relay puts records into. */
export interface Putter {
  /**
   * Settles when all of them are durable; rejects when any is not. An error named `QueueFullError` says that
   * the queue has no room and took none of them: pages are told to wait for longer then. While a record waits, another with
   * its id, type and project is the same one and is not added: a caller who heard no answer may put it again.
   */
  put(records: readonly QueuedRecord[]): Promise<void>;
}

/** A durable queue between a relay's answer and the service. */
export interface Queue extends Putter {
  /**
   * Takes records that are due, the oldest first, for `visibilityMs`. Records of one user are given out
   * in the order they were put, and never to two consumers at a time: one call may give several of them.
   * Answers with none when none is due.
   */
  take(limit: number, visibilityMs: number): Promise<Taken[]>;
  /** Removes records that are done with, whoever has them by now. */
  done(taken: readonly Taken[]): Promise<void>;
  /**
   * Gives records back, to be taken again after `delayMs`; those of the same user behind them wait, too.
   * Does nothing for one whose time was over and that another has taken since.
   */
  retry(taken: readonly Taken[], delayMs: number): Promise<void>;
  /** Moves a record that cannot be delivered to the dead letters, with the reason. */
  bury(taken: Taken, reason: string): Promise<void>;
  /** Where the queue can tell. */
  size?(): Promise<QueueSize>;
  /** This process takes no more: what it reserved for itself is free for others at once. */
  leave?(): Promise<void>;
}

/** A record that could not be delivered. */
export interface DeadLetter {
  /** The queue's own name for it. */
  id: string;
  record: QueuedRecord;
  /** `rejected` with the status of the refusal, or `expired`. */
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
