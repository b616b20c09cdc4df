import { messageOf } from '../../util/errors.js';
import { createPause } from '../time.js';
import { number, type Database, type Run } from './database.js';
import { BUSY_MS, FIRST_STEP, LOOK_MS, MAX_STEP, PAUSE_MS, REST, TROUBLE_MS } from './pace.js';

export type ReaderName = 'sums' | 'profiles';

/** The rows behind one place and up to another. */
export interface Stretch {
  place: number;
  upto: number;
}

/** What follows from some rows. It is prepared before any lock is taken. */
export interface Prepared {
  /** The step may end before the stretch does, so that it stays small. */
  upto: number;
  /** Writes it. Missing if there is nothing to write. */
  apply?: ((run: Run) => Promise<void>) | undefined;
  /** Rows that are left out, and why. */
  refused: readonly RefusedRow[];
}

export type RefusedRow = readonly [place: number, words: string];

interface Parts {
  name: ReaderName;
  database: Database;
  prepare: (run: Run, stretch: Stretch) => Promise<Prepared>;
  /** Keeps rows that are left out among the refused. */
  refuse: (run: Run, reader: ReaderName, rows: readonly RefusedRow[]) => Promise<unknown>;
}

/** The row of a reader. */
interface Own {
  place: number;
  number: number;
}

const LATE = 'the database takes too long for it';

/**
 * Reads the rows behind a place of its own, in the order of their places, and moves the place together with what follows
 * from them. Any process may make a step: the row of the reader is its lock. `number` changes with each use of the
 * lock, so a step is thrown away if somebody else had the lock since it was prepared.
 *
 * A row that the database refuses to sum or to merge, or that takes too long, is found by smaller and smaller steps. When
 * it is alone, it is left out and kept among the refused. So no row stops those behind it.
 */
export const createReader = ({ name, database, prepare, refuse }: Parts) => {
  const { table, lock, lockIfFree, read, write, transaction, wordsOfRefusal, isLate } = database;
  const [readers, records] = [table('readers'), table('records')];
  const own = (locked = '') =>
    `SELECT ${number('place')}, ${number('number')} FROM ${readers} WHERE name = '${name}' ${locked}`;
  const next = `SELECT ${number('max(seq)', 'upto')}, ${number('count(*)', 'rows')}
    FROM (SELECT seq FROM ${records} WHERE seq > $1 ORDER BY seq LIMIT CAST($2 AS integer)) AS next`;
  const move = `UPDATE ${readers} SET place = $1, number = number + 1
    WHERE name = '${name}' AND number = $2 RETURNING name`;

  const refusalOf = (error: unknown): string => {
    const words = wordsOfRefusal(error) ?? (isLate(error) ? LATE : undefined);
    if (words === undefined) throw error;
    return words;
  };
  /** Writes what was prepared, and moves the place. Returns false if somebody else has or had the lock. */
  const finish = async (
    { number: seen }: Own,
    { upto, apply, refused }: Prepared,
  ): Promise<boolean> => {
    if (!apply && !refused.length) return (await write(move, upto, seen)).length > 0;
    return transaction(async (run) => {
      const [now] = await run<Own>(own(lockIfFree));
      if (now?.number !== seen) return false;
      await apply?.(run);
      if (refused.length) await refuse(run, name, refused);
      await run(move, upto, seen);
      return true;
    });
  };

  /** How many rows the next step may read. */
  let limit = FIRST_STEP;
  const step = async (): Promise<'idle' | 'busy' | 'done' | 'more'> => {
    const [seen] = await read<Own>(own());
    const [found] = await read<{ upto: number; rows: number }>(next, seen!.place, limit);
    const { upto, rows } = found!;
    if (!rows) return 'idle';
    const isFull = rows === limit;
    try {
      const prepared = await prepare(read, { place: seen!.place, upto });
      if (!(await finish(seen!, prepared))) return 'busy';
      limit = Math.min(isFull ? MAX_STEP : FIRST_STEP, limit * 2);
      return isFull || prepared.upto < upto ? 'more' : 'done';
    } catch (error) {
      const words = refusalOf(error);
      limit = Math.ceil(rows / 2);
      if (rows > 1) return 'more';
      return (await finish(seen!, { upto, refused: [[upto, words]] })) ? 'more' : 'busy';
    }
  };

  let isOver = false;
  let isRung = false;
  let isIdle = false;
  let problem: string | undefined;
  const { pause, wake } = createPause();
  const wait = async (ms: number): Promise<void> => {
    if (!isOver) await pause(ms, { keepsAlive: false });
  };
  const run = async (): Promise<void> => {
    while (!isOver) {
      const startedAt = performance.now();
      isRung = false;
      const did = await step().catch((error: unknown) => error as Error);
      problem = did instanceof Error ? messageOf(did) : undefined;
      if (did instanceof Error) await wait(TROUBLE_MS);
      else if (did === 'busy') await wait(BUSY_MS);
      else if (did === 'more') await wait((performance.now() - startedAt) * REST);
      else if (did === 'done') await wait(PAUSE_MS);
      else if (!isRung) {
        isIdle = true;
        await wait(LOOK_MS);
        isIdle = false;
      }
    }
  };
  const running = run();

  return {
    /** Has the reader look at the rows, now or after its pause. */
    ring: (): void => {
      isRung = true;
      if (isIdle) wake();
    },
    /** Takes the lock in a transaction, and has steps that are prepared already thrown away. Returns the place. */
    take: async (run: Run): Promise<number> => {
      const [now] = await run<Own>(own(lock));
      await run(move, now!.place, now!.number);
      return now!.place;
    },
    /** Sums or merges the row of a place that was left out. Returns in words why it is left out again. */
    again: async (place: number): Promise<string | undefined> => {
      try {
        return await transaction(async (run) => {
          const [now] = await run<Own>(own(lock));
          const { apply, refused } = await prepare(run, { place: place - 1, upto: place });
          await apply?.(run);
          await run(move, now!.place, now!.number);
          return refused[0]?.[1];
        });
      } catch (error) {
        return refusalOf(error);
      }
    },
    problem: (): string | undefined => problem,
    end: async (): Promise<void> => {
      isOver = true;
      wake();
      await running;
    },
  };
};

export type Reader = ReturnType<typeof createReader>;
