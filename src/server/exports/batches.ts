import type { Row } from '../store/port.js';
import type { Turn } from './target.js';

/** A row as a target takes it: its place, and a line of text. */
export interface Line {
  place: number;
  text: string;
}

/** The target refuses the data of a row, and not the connection or the statement. */
export class RowRefusedError extends Error {
  override name = 'RowRefusedError' as const;
}

interface Batches {
  maxRows: number;
  maxCharacters: number;
  lineOf: (row: Row) => string;
  /** Writes all of these lines, or none. Rejects with a `RowRefusedError` if a line may be at fault. */
  insert: (lines: readonly Line[], turn: Turn) => Promise<void>;
}

/** Reads one batch, which has at least one row. */
const readBatch = async (
  { pages }: Turn,
  { maxRows, maxCharacters, lineOf }: Batches,
): Promise<Line[]> => {
  const lines: Line[] = [];
  let size = 0;
  for await (const page of pages) {
    for (const row of page) {
      const text = lineOf(row);
      size += text.length;
      if (lines.length && (lines.length === maxRows || size > maxCharacters)) return lines;
      lines.push({ place: row.seq, text });
    }
  }
  return lines;
};

/**
 * Fills a target that takes a batch as a whole. If it refuses one, the batch is halved until the bad rows are alone. The
 * second half goes only after the first one is written or its bad row is kept, so that the last row in the target always
 * says how far it is.
 */
export const createFill = (batches: Batches) => {
  /** Rows that were refused since one was taken. */
  let refused = 0;

  const write = async (lines: readonly Line[], turn: Turn): Promise<void> => {
    await turn.mayWrite();
    try {
      await batches.insert(lines, turn);
      refused = 0;
    } catch (error) {
      if (!(error instanceof RowRefusedError)) throw error;
      const half = Math.ceil(lines.length / 2);
      if (half === lines.length)
        return turn.bury({ place: lines[0]!.place, message: error.message }, ++refused);
      await write(lines.slice(0, half), turn);
      await write(lines.slice(half), turn);
    }
  };

  return async (turn: Turn): Promise<number> => {
    const lines = await readBatch(turn, batches);
    if (!lines.length) return turn.from; // they were erased meanwhile
    await write(lines, turn);
    return lines.at(-1)!.place;
  };
};
