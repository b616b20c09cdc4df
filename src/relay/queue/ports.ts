import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import type { Dropped } from '../hooks.js';

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
   * client push out what the others have. When it rejects, the store should see to it that its claims do not
   * stand: nobody forgets them.
   */
  begin(ids: readonly string[], claimMs: number, client?: string): Promise<Sighting[]>;
  /**
   * Stores the results of claimed records: `delivered`, `rejected`, or `accepted` where a queue has them. A
   * later result replaces an earlier one, but `accepted` replaces none: a consumer may have delivered a
   * record before the relay that accepted it stores that. A refused id need not be kept for longer than an hour.
   * May answer how many ids were forgotten because there were too many.
   */
  finish(results: readonly BatchResult[], client?: string): Promise<Dropped | void>;
  /**
   * Gives claims up. These records were not accepted, and pages may send them again. It is called once: when it
   * rejects, the store should do it later.
   */
  forget(ids: readonly string[]): Promise<void>;
}

/** A record in a queue. */
export interface QueuedRecord extends BatchRecord {
  /** When the relay took it, or an operator sent it again: milliseconds since the epoch. */
  at: number;
  /** Who sent it: an opaque word that stands for no address. Missing where clients cannot be told apart. */
  client?: string;
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

/** The side of a durable queue on which the relay puts records. */
export interface Putter {
  /**
   * Settles when all of them are durable; rejects when any is not. Rejects with an error named `QueueFullError` when
   * there is no room: then the queue has none of them, and pages wait for longer. A record that waits already, by its
   * id, type and project, is not added again, so a caller who got no answer may put it once more. The records are of
   * one client.
   */
  put(records: readonly QueuedRecord[]): Promise<void>;
  /**
   * If the queue can keep one: a secret that is made with it and is the same in all processes. Relays make the words
   * for clients with it, so that all of them have one word for a client. Order and bounds of a client hang on that.
   */
  secret?(): Promise<string>;
}

/** A durable queue between a relay's answer and the service. */
export interface Queue extends Putter {
  /**
   * Takes records that are due: those that have not failed (`fresh`) or, where there are none, those that have
   * (`failed`); `only` one of the two where it is asked for. Nobody else gets them for `visibilityMs`.
   *
   * Identifies of one user and client come one at a time, in the order they were put. An event of that user and client
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

/** Thrown when there is no room. None of the records was put. */
export class QueueFullError extends Error {
  override name = 'QueueFullError' as const;

  constructor(
    bounds: AllOf<QueueBounds>,
    /** Only the client of these records has too many. */
    readonly ofClient = false,
  ) {
    const name = ofClient ? 'maxWaitingOfClient' : 'maxWaiting';
    super(`the queue is full: \`${name}\` is ${bounds[name]} records of up to a KiB each`);
  }
}

/** Compares names: each store is bundled apart from the relay, with its own copy of the class. */
export const isQueueFull = (error: unknown): error is QueueFullError =>
  error instanceof Error && error.name === 'QueueFullError';

/** Bounds of which none is left out. */
type AllOf<Bounds> = { [Name in keyof Bounds]-?: number };

/** How much a queue keeps. A record counts once for each KiB of it. */
export interface QueueBounds {
  /** Records that may wait; beyond them the relay answers 503. @default 1000000 */
  maxWaiting?: number | undefined;
  /** Records of one client that may wait; beyond them the relay tells that client to wait. @default 50000 */
  maxWaitingOfClient?: number | undefined;
  /** Dead letters that are kept. The oldest go first. @default 100000 */
  maxDead?: number | undefined;
  /** Dead letters of one client that are kept. Its oldest go first. @default 10000 */
  maxDeadOfClient?: number | undefined;
}

/** The bounds, where options leave some out. */
export const boundsOf = (given: QueueBounds): AllOf<QueueBounds> => ({
  maxWaiting: given.maxWaiting ?? 1_000_000,
  maxWaitingOfClient: given.maxWaitingOfClient ?? 50_000,
  maxDead: given.maxDead ?? 100_000,
  maxDeadOfClient: given.maxDeadOfClient ?? 10_000,
});

/** How many ids of known records a store keeps. */
export interface IdBounds {
  /** Ids that are kept. Beyond them the client that has the most loses its oldest. @default 5000000 */
  maxIds?: number | undefined;
  /** Ids of one client that are kept. Its oldest go first. @default 500000 */
  maxIdsOfClient?: number | undefined;
}

export const idBoundsOf = (given: IdBounds): AllOf<IdBounds> => ({
  maxIds: given.maxIds ?? 5_000_000,
  maxIdsOfClient: given.maxIdsOfClient ?? 500_000,
});

/** How long an id is kept where nothing else is asked for, in milliseconds. */
export const SEEN_MS = 7 * 86_400_000;
/** A refused record that comes again is refused again, so its id is not kept for long, in milliseconds. */
export const REFUSED_MS = 3_600_000;
/** An identify that has failed so often holds up no event of its user. Events carry the id of the user themselves. */
export const PATIENCE = 3;
/** No delay is longer. A record that waits for longer was stored before the clock was set back. */
export const LONGEST_WAIT_MS = 600_000;
