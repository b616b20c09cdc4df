import { createPause } from '../time.js';
import type { Erased } from './port.js';
import { readErasures, type Erasure, type ProgressDatabase } from './progress.js';
import { storableText } from './storable.js';

/** How many rows are deleted at a time. Writes have to wait meanwhile. */
const PIECE = 1_000;
/** How often a process looks for erasures that another one has left undone. */
const LOOK_MS = 20_000;
/** A process that works on an erasure notes this every 10 seconds. After 30 another one goes on with it. */
const [NOTE_MS, IDLE_MS] = [10_000, 30_000];
/** How long an erasure is kept at the least, so that open pages hear of it. */
const KEEP_MS = 3_600_000;

export interface ErasureParts extends ProgressDatabase {
  /**
   * Keeps an erasure with the next place in the order of rows. `upto` is its own place, or a lower one that is given.
   * The profile of a user is deleted in the same transaction, since later identifies begin another one.
   */
  begin: (erased: Erased, upto: number | undefined) => Promise<Erasure>;
  /**
   * The places of the rows that fit and are below `upto`, in their order. Looks through some rows at a time, of which none
   * may fit. Nothing is locked.
   */
  find: (erased: Erased, upto: number) => AsyncIterable<number[]>;
  /** Deletes rows by their places, and returns how many there were. */
  remove: (places: readonly number[]) => Promise<number>;
  removeRefused: (project: string, userId: string) => Promise<void>;
  lastPlace: () => Promise<number>;
  /** Called when an erasure is done. */
  done: () => void;
}

const storableErased = (erased: Erased): Erased => ({
  ...erased,
  ...Object.fromEntries(
    (['project', 'user_id', 'channel', 'event'] as const).flatMap((name) => {
      const text = erased[name];
      return text === undefined ? [] : [[name, storableText(text)]];
    }),
  ),
});

/** Erases rows in pieces, and goes on with erasures that a process has left undone. */
export const createErasures = (parts: ErasureParts) => {
  const { read, run, table, now, begin, find, remove, removeRefused, lastPlace, done } = parts;
  const [erasures, targets] = [table('erasures'), table('targets')];
  const isOld = `is_done = 1 AND at < ${now} - ${KEEP_MS}
    AND place <= coalesce((SELECT min(erased) FROM ${targets}), place)`;
  const working = new Set<Promise<unknown>>();
  let isOver = false;

  const note = (place: number, isDone: 0 | 1): Promise<unknown[]> =>
    run([`UPDATE ${erasures} SET at = ${now}, is_done = ${isDone} WHERE place = $1`, place]);

  const stopIfClosed = (): void => {
    if (isOver) throw new Error('the store was closed, and goes on with the erasure later');
  };
  /** The places of the rows to delete, in pieces. Notes now and then that this process works on the erasure. */
  async function* piecesOf({ place, upto, ...erased }: Erasure): AsyncGenerator<number[], void> {
    let piece: number[] = [];
    let notedAt = performance.now();
    for await (const places of find(erased, upto)) {
      stopIfClosed();
      if (performance.now() - notedAt >= NOTE_MS) {
        await note(place, 0);
        notedAt = performance.now();
      }
      piece.push(...places);
      for (; piece.length >= PIECE; piece = piece.slice(PIECE)) {
        yield piece.slice(0, PIECE);
        stopIfClosed();
      }
    }
    if (piece.length) yield piece;
  }
  /** Deletes what is left of an erasure, and returns how many rows that was. */
  const finish = async (erasure: Erasure): Promise<number> => {
    const { place, project, user_id } = erasure;
    let rows = 0;
    for await (const piece of piecesOf(erasure)) rows += await remove(piece);
    if (user_id !== undefined) await removeRefused(project, user_id);
    await note(place, 1);
    done();
    return rows;
  };
  /** Runs work that the end of all waits for. */
  const wait = <Result>(work: Promise<Result>): Promise<Result> => {
    const settled = work
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => working.delete(settled));
    working.add(settled);
    return work;
  };

  const removeOld = async (): Promise<void> => {
    if ((await read(`SELECT 1 FROM ${erasures} WHERE ${isOld} LIMIT 1`)).length)
      await run([`DELETE FROM ${erasures} WHERE ${isOld}`]);
  };
  const undone = (idleMs: number): Promise<Erasure[]> =>
    readErasures(parts, `is_done = 0 AND at <= ${now} - $1`, '100', idleMs);
  const { pause, wake } = createPause();
  const goOn = async (first: Promise<readonly Erasure[]>): Promise<void> => {
    let left = first;
    while (!isOver) {
      try {
        for (const erasure of await left) await finish(erasure);
        await removeOld();
      } catch {
        // The database is away, which writes report, or the store was closed.
      }
      if (isOver) return;
      await pause(LOOK_MS, { keepsAlive: false });
      if (!isOver) left = undone(IDLE_MS);
    }
  };
  // An erasure that is undone as a process starts is most likely one of its own.
  const left = undone(0);
  void wait(goOn(left));

  return {
    /** Settles when the erasures that were left undone before are read. */
    started: (): Promise<unknown> => left,
    erase: (erased: Erased, upto?: number): Promise<number> =>
      wait(begin(storableErased(erased), upto).then(finish)),
    countErased: async (erased: Erased): Promise<{ rows: number; upto: number }> => {
      const upto = (await lastPlace()) + 1;
      let rows = 0;
      for await (const places of find(storableErased(erased), upto)) rows += places.length;
      return { rows, upto };
    },
    /** Settles when nothing is deleted any more. */
    end: async (): Promise<void> => {
      isOver = true;
      wake();
      while (working.size) await Promise.all(working);
    },
  };
};
