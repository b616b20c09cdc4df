import { createPause } from '../time.js';
import { createValues, number, type Database, type Run } from './database.js';
import type { Erased } from './port.js';
import type { User } from './profiles.js';
import { readErasures, type Erasure } from './progress.js';
import type { Reader, ReaderName } from './reader.js';
import { storableText } from './storable.js';
import type { Steps } from './steps.js';
import type { Sums } from './sums.js';

/** How many rows are deleted at a time. Writes have to wait meanwhile. */
const PIECE = 1_000;
/** How often a process looks for erasures that another one has left undone. */
const LOOK_MS = 20_000;
/** A process that works on an erasure notes this every 10 seconds. After 30 another one goes on with it. */
const [NOTE_MS, IDLE_MS] = [10_000, 30_000];
/** How long an erasure is kept at the least, so that open pages hear of it. */
const KEEP_MS = 3_600_000;

/** The columns that an erasure names, with the condition that a row has to meet. */
const conditionsOf = ({ time }: Database) =>
  ({
    project: (value) => `project = ${value}`,
    user_id: (value) => `user_id = ${value}`,
    channel: (value) => `channel = ${value}`,
    event: (value) => `event = ${value}`,
    from: (value) => `received_at >= ${time(value)}`,
    to: (value) => `received_at < ${time(value)}`,
  }) satisfies Record<keyof Erased, (value: string) => string>;

interface Parts {
  database: Database;
  steps: Steps['steps'];
  readers: Readonly<Record<ReaderName, Reader>>;
  sums: Pick<Sums, 'takeOff'>;
  removeProfile: (run: Run, user: User) => Promise<unknown>;
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

/**
 * Deletes rows: those of erasures, in pieces, and those that are too old. Goes on with erasures that a process has left
 * undone.
 */
export const createErasures = (parts: Parts) => {
  const { database, steps, readers, sums, removeProfile, removeRefused, lastPlace, done } = parts;
  const { table, texts, turn, time, now, nextPlace, indexed, read, write, transaction } = database;
  const [records, erasures, targets] = [table('records'), table('erasures'), table('targets')];
  const CONDITIONS = conditionsOf(database);
  const isOld = `is_done = 1 AND at < ${now} - ${KEEP_MS}
    AND place <= coalesce((SELECT min(erased) FROM ${targets}), place)`;
  const list = `(SELECT CAST(value AS bigint) FROM ${texts('$1')})`;
  // Postgres has the lock of the rows from here to the end of the transaction, which is near.
  const removeRows = [
    `WITH ${turn()} SELECT 1 FROM turn`,
    `DELETE FROM ${records} WHERE seq IN ${list} RETURNING 1 AS removed`,
  ] as const;
  // Why a row was refused may quote the row, and nobody sends it any more.
  const removeOfTargets = ['refused', 'parked'].map(
    (name) => `DELETE FROM ${table(name)} WHERE place IN ${list}`,
  );

  /**
   * Deletes the rows of places in a transaction that has the lock of the sums, and takes them off the sums. Returns how
   * many there were.
   */
  const removeIn = async (run: Run, places: readonly number[], summed: number): Promise<number> => {
    const text = JSON.stringify(places);
    await sums.takeOff(run, places, summed);
    for (const statement of removeOfTargets) await run(statement, text);
    await run(removeRows[0]);
    return (await run(removeRows[1], text)).length;
  };
  const remove = (places: readonly number[]): Promise<number> =>
    transaction(async (run) => removeIn(run, places, await readers.sums.take(run)));

  const put = `INSERT INTO ${erasures} (place, at, project, user_id, channel, event, received_from,
      received_to, upto, is_done)
    VALUES ($1, ${now}, $2, $3, $4, $5, $6, $7, $8, 0)`;
  /**
   * Keeps an erasure with the next place in the order of rows. The profile of a user is deleted in the same transaction,
   * since later identifies begin another one.
   */
  const begin = (erased: Erased, given: number | undefined): Promise<Erasure> =>
    transaction(async (run) => {
      const { project, user_id, channel, event, from, to } = erased;
      await readers.profiles.take(run);
      if (user_id !== undefined) await removeProfile(run, { project, user_id });
      let place = 0;
      for (const statement of nextPlace)
        place = (await run<{ place: number }>(statement))[0]?.place ?? place;
      const upto = Math.min(given ?? place, place);
      const values = [project, user_id, channel, event, from, to].map((value) => value ?? null);
      await run(put, place, ...values, upto);
      return { ...erased, place, upto };
    });
  /** The places of the rows that fit and are below `upto`, in their order, some at a time. Nothing is locked. */
  async function* find(erased: Erased, upto: number): AsyncGenerator<number[], void> {
    for await (const { after, before } of steps({ before: upto })) {
      const { values, value } = createValues();
      const where = Object.entries(CONDITIONS).flatMap(([name, condition]) => {
        const text = erased[name as keyof Erased];
        return text === undefined ? [] : [condition(value(text))];
      });
      const rows = await read<{ seq: number }>(
        `SELECT ${number('seq')} FROM ${records} ${indexed(erased.user_id === undefined ? undefined : 'user')}
        WHERE ${where.join(' AND ')} AND seq > ${value(after)} AND seq < ${value(before)} ORDER BY seq`,
        ...values,
      );
      yield rows.map(({ seq }) => seq);
    }
  }

  const working = new Set<Promise<unknown>>();
  let isOver = false;

  const note = (place: number, isDone: 0 | 1): Promise<unknown[]> =>
    write(`UPDATE ${erasures} SET at = ${now}, is_done = ${isDone} WHERE place = $1`, place);

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
      await write(`DELETE FROM ${erasures} WHERE ${isOld}`);
  };
  const undone = (idleMs: number): Promise<Erasure[]> =>
    readErasures(database, `is_done = 0 AND at <= ${now} - $1`, '100', idleMs);
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
    /** Deletes rows that arrived before a time and that all readers have read. */
    expire: (before: string, limit: number, upto = Number.MAX_SAFE_INTEGER): Promise<number> =>
      transaction(async (run) => {
        const summed = await readers.sums.take(run);
        const rows = await run<{ seq: number }>(
          `SELECT ${number('seq')} FROM ${records} WHERE received_at < ${time('$1')} AND seq < $2
            AND seq <= (SELECT min(place) FROM ${table('readers')})
          ORDER BY received_at LIMIT CAST($3 AS integer)`,
          ...[before, upto, limit],
        );
        const places = rows.map(({ seq }) => seq);
        return places.length ? removeIn(run, places, summed) : 0;
      }),
    /** Settles when nothing is deleted any more. */
    end: async (): Promise<void> => {
      isOver = true;
      wake();
      while (working.size) await Promise.all(working);
    },
  };
};
