import type { Row } from '../store/port.js';
import type { Erasure, PlaceSpan, PlaceSum, Source, TargetDead } from '../store/progress.js';

/** Something that an export fills: a warehouse, or files. */
export interface Target {
  /**
   * Its name in the store and for people: host and database, or a folder. It has no user and no password, so with
   * another password it is the same target.
   */
  name: string;
  /** A turn begins when the oldest row has waited for this long, or when about this many rows wait. */
  wait: { ms: number; rows: number };
  /** Makes what is missing, and rejects in words for operators if the target is set up wrongly. The lock is held. */
  prepare: (signal?: AbortSignal) => Promise<void>;
  /**
   * Ends what may still be written there, and returns the last row of the source that the target has. It is asked at the
   * start, after any error, and after another process had the target. Missing if writing again replaces what is there.
   */
  last?: (source: string, signal?: AbortSignal) => Promise<LastRow | undefined>;
  /**
   * Writes rows until it has had enough of them, or until there are no more. Returns the place of the last one: all rows
   * up to it are durable there, or were refused and kept with `bury`. Rejects if the target is away.
   */
  fill: (turn: Turn) => Promise<number>;
  /**
   * Deletes erased rows, and settles when they are gone. Returns what operators have to know of rows that it cannot delete,
   * if it may have any.
   */
  erase: (
    source: Source,
    erasures: readonly Erasure[],
    signal?: AbortSignal,
  ) => Promise<string | undefined>;
  /**
   * Counts its rows between two places in blocks of `block` places. Returns the sums by the first place of a block. Missing,
   * as `places`, if its rows have other places.
   */
  sumPlaces?: (
    source: string,
    span: PlaceSpan & { block: number },
  ) => Promise<Map<number, PlaceSum>>;
  /** The places of its rows between two places. If it has a row twice, the place is there twice. */
  places?: (source: string, span: PlaceSpan) => Promise<number[]>;
  /** Closes its connections. */
  close?: () => Promise<void>;
}

/** The last row of a source that a target has. */
export interface LastRow {
  place: number;
  /** The place of its first row of the source. */
  first: number;
  id: string;
}

/** One turn of an export: the rows to write, and what the target needs meanwhile. */
export interface Turn {
  /** The random name of the store's order of rows. */
  source: string;
  /** The number of the lock. It grows with each process that takes the target over. */
  number: number;
  /** The place of the target: all rows up to it are there. */
  from: number;
  /** The rows to write, in the order of their places, in pages. */
  pages: AsyncIterable<readonly Row[]>;
  /** Has to be called right before a write. Rejects if another process has the target by now. */
  mayWrite: () => Promise<void>;
  /**
   * Keeps a row that the target refuses, so that the turn can go on behind it. `inARow`: how many it has refused since it
   * took one. Rejects if the fault seems to be that of the target.
   */
  bury: (dead: TargetDead, inARow: number) => Promise<void>;
  /** Aborted when the lock is lost, or when the program stops. */
  signal: AbortSignal;
}
