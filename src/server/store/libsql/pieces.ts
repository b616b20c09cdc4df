import type Database from 'libsql';
import type { Database as Engine } from '../database.js';

/**
 * How many places are looked through at a time: as many as take some milliseconds, since a row may have a hundred bytes
 * or a hundred thousand. A step stays small over small rows, because large ones may follow. SQLite blocks the only thread
 * meanwhile, so other requests get a turn after each step, and also after the last one: an export asks for page after
 * page.
 */
const [FIRST_STEP, MIN_STEP, MAX_STEP] = [100, 20, 500];
const STEP_MS = 10;
const nextStep = (step: number, tookMs: number): number =>
  tookMs > STEP_MS ? Math.max(MIN_STEP, Math.ceil(step / 2)) : Math.min(MAX_STEP, step * 2);

/** The first and the last place; `null` if there are no rows. */
interface Ends {
  first: number | null;
  last: number | null;
}

export const createPieces = (database: Database.Database): Engine['pieces'] => {
  const ends = database.prepare<unknown[]>(
    'SELECT (SELECT min(seq) FROM records) AS first, (SELECT max(seq) FROM records) AS last',
  );

  return async function* piecesOf({ after, before, newest }) {
    const [{ first, last }] = ends.all() as [Ends];
    let low = Math.max(after ?? 0, (first ?? 1) - 1);
    let high = Math.min(before ?? Infinity, (last ?? 0) + 1);
    let step = FIRST_STEP;
    while (high - low > 1) {
      const from = newest ? Math.max(low, high - 1 - step) : low;
      const to = newest ? high : Math.min(high, low + 1 + step);
      const startedAt = performance.now();
      try {
        yield [from, to] as const;
      } finally {
        step = nextStep(step, performance.now() - startedAt);
        await new Promise(setImmediate);
      }
      if (newest) high = from + 1;
      else low = to - 1;
    }
  };
};
