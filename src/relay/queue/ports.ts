import type { BatchRecord, BatchResult } from '../../interface/wire.js';

/** What a store knows of a record: nothing, that somebody is sending it, or its result. */
export type Sighting =
  { state: 'new' } | { state: 'begun' } | { state: 'done'; result: BatchResult };

/**
 * Remembers the records that a relay has sent, so that a repeat gets the first result and is not sent again.
 * Share one store between all processes of a relay. The ids here are keys such as `event:<id>:<project>`: an
 * id that a page gives belongs to one type of record of one project.
 */
export interface Seen {
  /**
   * Claims ids that are new, each in one atomic step: of two callers with one id, one gets `new` and the
   * other `begun`. A claim that is neither finished nor forgotten ends after `claimMs`, so that a dead
   * process does not hold a record for ever. The ids are distinct. Answers one sighting an id, in their
   * order. `client` says who sent the records, if that is known: a store of a bounded size must not let one
   * client push out what the others have.
   */
  begin(ids: readonly string[], claimMs: number, client?: string): Promise<Sighting[]>;
  /**
   * Stores the results of claimed records: `delivered`, `rejected`, or `accepted` where a queue has them. A
   * later result replaces an earlier one, but `accepted` replaces none: a consumer may have delivered a
   * record before the relay that accepted it stores that.
   */
  finish(results: readonly BatchResult[], client?: string): Promise<void>;
  /** Gives claims up. These records were not accepted, and pages may send them again. */
  forget(ids: readonly string[]): Promise<void>;
}

/** A record in a queue. */
export interface QueuedRecord extends BatchRecord {
  /** When the relay took it, or an operator sent it again: milliseconds since the epoch. */
  at: number;
}

/** A record that a consumer has taken. Nobody else gets it until its time is over. */
export interface Taken {
  /** The queue's own name for it. */
  receipt: string;
  record: QueuedRecord;
  /** How often it has been taken, this time included; not counting when it was given back with no delay. */
  attempts: number;
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

/** The side of a durable queue on which the relay puts records. */
export interface Putter {
  /**
   * Settles when all of them are durable; rejects when any is not. With an error named `QueueFullError` the
   * queue is full and has none of them; pages are told to wait for longer then. A record that waits already,
   * by its id, type and project, is not added again: a caller who got no answer may put it once more.
   */
  put(records: readonly QueuedRecord[]): Promise<void>;
}

/** A durable queue between a relay's answer and the service. */
export interface Queue extends Putter {
  /**
   * Takes records that are due: those that have not failed come first, the oldest of them before the others. Nobody else gets them for `visibilityMs`. Records of one
   * user come in the order they were put, and never go to two consumers at a time; one call may give several
   * of them. Answers with an empty list when none is due.
   */
  take(limit: number, visibilityMs: number): Promise<Taken[]>;
  /** Removes delivered records, even when their time is over and another consumer has taken them. */
  done(taken: readonly Taken[]): Promise<void>;
  /**
   * Gives records back, to be taken again after `delayMs`. Records of the same user behind them wait, too. With
   * no delay they were not tried, and come back as if they had not been taken.
   * Does nothing for a record that another consumer has taken since its time was over.
   */
  retry(taken: readonly Taken[], delayMs: number): Promise<void>;
  /** Moves a record that cannot be delivered to the dead letters, with the reason. */
  bury(taken: Taken, reason: string): Promise<void>;
  /** If the queue can say how full it is. */
  size?(): Promise<QueueSize>;
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
