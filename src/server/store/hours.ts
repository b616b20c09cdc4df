import { createPause } from '../time.js';

/** The columns of the sums of an hour; see `Hour`. */
export const SUMS = ['rows', 'repeats', 'in_2s', 'in_1m', 'in_1h', 'later'] as const;

/** Columns that count rows by their delay after the call: those of at most so many seconds. */
export const DELAYS = [
  { name: 'in_2s', seconds: 2 },
  { name: 'in_1m', seconds: 60 },
  { name: 'in_1h', seconds: 3_600 },
  { name: 'later', seconds: Infinity },
] as const;

/** Pairs of channel and event that a project and hour has sums of. Names are texts of strangers, who may invent many. */
export const MAX_PAIRS = 500;
/** The channel and event under which all other pairs are summed. */
export const REST = '…';
/** A longer pair is summed under the rest, too: an index of Postgres takes no long texts. */
export const MAX_PAIR_BYTES = 1_000;

/** Rows that are older than the sums and are summed in one piece. */
export const PIECE = 1_000;
/** The pause between two pieces, so that writes are not held up, and the one after an error. */
const [PAUSE_MS, TROUBLE_MS] = [20, 1_000];

/**
 * Sums older rows in pieces until there are no more. `sumPiece` returns whether there may be more. Returns a function
 * that ends it, and settles when the last piece has ended.
 */
export const startSumming = (sumPiece: () => Promise<boolean>): (() => Promise<void>) => {
  let isOver = false;
  const { pause, wake } = createPause();
  const run = async (): Promise<void> => {
    while (!isOver) {
      try {
        if (!(await sumPiece())) return;
        await pause(PAUSE_MS, { keepsAlive: false });
      } catch {
        await pause(TROUBLE_MS, { keepsAlive: false }); // the database is away: writes report it
      }
    }
  };
  const running = run();
  return async () => {
    isOver = true;
    wake();
    await running;
  };
};
