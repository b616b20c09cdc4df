import type { Row } from '../store/port.js';
import type { Erasure, TargetDead } from '../store/progress.js';

/** One turn of an export: the rows to write, and the right to do so. */
export interface Turn {
  /** The random name of the store's order of rows. */
  source: string;
  /** The number of the lock. It grows with each process that takes the target over. */
  number: number;
  /** The rows behind the place of the target, in their order, in pages. */
  pages: AsyncIterable<readonly Row[]>;
  /** Reads the lock again, right before a write. Rejects if another process has the target by now. */
  mayWrite: () => Promise<void>;
  /** Aborted when the lock is lost, or when the program stops. */
  signal: AbortSignal;
}

/** How far a turn has come. */
export interface Filled {
  /** All rows up to this place are in the target and durable there, or among the dead. */
  place: number;
  /** The rows that the target refuses. */
  dead: readonly TargetDead[];
}

/** Something that an export fills: a warehouse, or files. */
export interface Target {
  /**
   * The name under which its place is kept, and that people see: host and database, or a folder. It has no user and no
   * password, so a changed password is the same target.
   */
  name: string;
  /** A turn begins when the oldest row has waited for this long, or when there are this many rows. */
  wait: { ms: number; rows: number };
  /** Makes what is missing, and rejects in words for operators if the target is set up wrongly. */
  prepare: () => Promise<void>;
  /**
   * Ends what may still be written there, and returns the last row of this source that the target has. It is asked at
   * the start, after any error, and after another process had the target. Missing if writing again replaces.
   */
  last?: (source: string) => Promise<{ place: number; id: string } | undefined>;
  /** Writes rows until it has had enough of them, or there are no more. Rejects if the target is away. */
  fill: (turn: Turn) => Promise<Filled>;
  /** Deletes erased rows. Missing if it cannot; then words for operators say so. */
  erase?: (source: string, erasures: readonly Erasure[]) => Promise<void>;
  /** How many rows of the source the target has in each block of so many places, by the first place of the block. */
  counts?: (
    source: string,
    from: number,
    to: number,
    block: number,
  ) => Promise<Map<number, number>>;
}
