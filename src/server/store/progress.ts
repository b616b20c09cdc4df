import { nanoid } from 'nanoid';
import { number, type Database } from './database.js';
import { LOCK_MS } from './lock-ms.js';
import { createParked, parkedTables, type Parked } from './parked.js';
import { present } from './present.js';
import type { RefusedList } from './refused.js';

/** A target as the store knows it. */
export interface TargetState {
  name: string;
  /** All rows up to this place are in the target, or among its dead. */
  place: number;
  /** All erasures up to this place were passed on to the target. */
  erased: number;
  /** Why the target takes nothing, in words without passwords; missing while it works. */
  message?: string;
  /** How many rows the target itself has refused. */
  dead: number;
  /** How many rows up to the place are still to be sent, 100,000 at the most, and the lowest place of them. */
  parked: number;
  owes?: number;
  /** Whether a process has it now. */
  isHeld: boolean;
}

/** The right of one process to write to a target. `number` grows with each process that takes it over. */
export interface TargetLock {
  target: string;
  number: number;
  place: number;
  erased: number;
  /** What a notifier has to know after a restart, in its own words. */
  memo?: string;
  /** Milliseconds for which it holds without being renewed. */
  ms: number;
}

/** What can be noted of a target. */
export interface TargetChanges {
  place?: number;
  erased?: number;
  /** Why it takes nothing; null if it works. */
  message?: string | null;
  memo?: string;
}

/** A row that a target has refused, and why. */
export interface TargetDead {
  place: number;
  message: string;
}

/** An order of rows. A store that was set back to an earlier state begins a new one. */
export interface Source {
  /** A random name. */
  id: string;
  /** Rows up to this place were exported under a former name. */
  since: number;
  /** The names before. */
  former: readonly string[];
}

/**
 * Rows that were erased: those of one user, or those that fit the other fields. All of them have a lower place than
 * `upto`.
 */
export interface Erasure {
  /** Its own place in the order of rows. No row has it. */
  place: number;
  project: string;
  user_id?: string;
  channel?: string;
  event?: string;
  /** ISO 8601 in UTC: only rows that arrived from this time on, and before that one. */
  from?: string;
  to?: string;
  upto: number;
}

/** From one place on, and before another one. */
export interface PlaceSpan {
  from: number;
  to: number;
}

/** The rows of a block, in two numbers that other rows would hardly have. */
export interface PlaceSum {
  rows: number;
  /** All places added up. */
  places: number;
}

/** What the store remembers of exports and notifications. The SQL is the same in both engines. */
export interface Progress {
  /** The order of rows that this store has now. */
  source(): Promise<Source>;
  /** Begins a new order of rows, for targets that have rows of a store that was set back. */
  newSource(since: number): Promise<string>;
  /**
   * Takes a target for `ms` milliseconds (30 seconds). If another process has it, it is taken only by `force`, or if that
   * process ran on this machine and has ended. A new target begins behind the place `from`.
   */
  take(
    target: string,
    holder: string,
    options?: { from?: number; force?: boolean; ms?: number },
  ): Promise<TargetLock | undefined>;
  /** Notes how far a target has come, and renews the lock. Returns false if another process has the target by now. */
  keep(lock: TargetLock, changes?: TargetChanges): Promise<boolean>;
  /** Gives a target back, so that another process may take it at once. */
  release(lock: TargetLock): Promise<void>;
  targets(): Promise<TargetState[]>;
  /** Deletes all that the store remembers of a target. Returns false if there is no such target. */
  forget(target: string): Promise<boolean>;
  /**
   * Sets the place of a target, and takes it away from the process that has it. Returns false if there is no such target.
   */
  moveTo(target: string, place: number): Promise<boolean>;
  /**
   * Keeps rows that the target has refused, until they are deleted. Leaves out those that are deleted by now. Returns how
   * many of the oldest were deleted, because there were too many.
   */
  bury(lock: TargetLock, dead: readonly TargetDead[]): Promise<number>;
  /** Forgets rows that the target has refused. */
  unbury(target: string, places: readonly number[]): Promise<void>;
  /** Rows that the target has refused, in the order of their places, behind one of them. */
  dead(target: string, after: number, limit: number): Promise<TargetDead[]>;
  /**
   * Erasures behind a place whose rows are deleted here, in their order. An erasure that is still under way holds up
   * those behind it, so that nobody who goes on behind the last one misses it.
   */
  erasures(after: number, limit: number): Promise<Erasure[]>;
  /** The place of the last of these erasures; 0 if there is none. */
  lastErasure(): Promise<number>;
  /** The rows between two places in each block of so many, by the block's first place. */
  sumPlaces(span: PlaceSpan & { block: number }): Promise<Map<number, PlaceSum>>;
  /** The places of the stored rows between two places, in their order. */
  places(span: PlaceSpan): Promise<number[]>;
  /** Rows that are still to be sent to a target, though its place has passed them. */
  parked: Parked;
  /**
   * The secret of a day (`2026-01-31`), which all processes share. It is made when it is first asked for. Secrets that are
   * more than 7 days older are deleted, so that no word that was made with them leads to an address any more.
   */
  secretOf(day: string): Promise<string>;
}

/** A statement and its values. */
export type PlainStatement = readonly [sql: string, ...values: unknown[]];

/** What an engine provides. */
export type ProgressDatabase = Pick<
  Database,
  | ('read' | 'write' | 'transaction' | 'table' | 'now' | 'each' | 'iso')
  | ('ownProcess' | 'hasEnded')
>;

/** The tables, in SQL that both engines understand. */
export const progressTables = (table: (name: string) => string): string => `
  CREATE TABLE ${table('source')} (
    number integer PRIMARY KEY,
    id TEXT NOT NULL,
    since bigint NOT NULL
  );
  INSERT INTO ${table('source')} VALUES (1, '${nanoid()}', 0);
  CREATE TABLE ${table('erasures')} (
    place bigint PRIMARY KEY,
    at bigint NOT NULL,
    project TEXT NOT NULL,
    user_id TEXT,
    channel TEXT,
    event TEXT,
    received_from TEXT,
    received_to TEXT,
    upto bigint NOT NULL,
    is_done integer NOT NULL
  );
  CREATE TABLE ${table('targets')} (
    name TEXT PRIMARY KEY,
    place bigint NOT NULL,
    erased bigint NOT NULL,
    holder TEXT,
    number bigint NOT NULL,
    until bigint NOT NULL,
    message TEXT,
    memo TEXT
  );
`;

/** The tables that came with version 4. */
export const passingTables = (table: (name: string) => string): string => `
  CREATE TABLE ${table('secrets')} (day TEXT PRIMARY KEY, secret TEXT NOT NULL);
  ${parkedTables(table)}`;

/** For how many days the secret of a day is kept. */
const SECRET_DAYS = 7;
const daysBefore = (day: string, count: number): string =>
  new Date(Date.parse(day) - count * 86_400_000).toISOString().slice(0, 10);
/** Up to how many parked rows are counted. */
const MOST_COUNTED = 100_000;

/** The first erasures that meet a condition, in their order. `limit` is a number or stands for a value. */
export const readErasures = async (
  { read, table }: Pick<ProgressDatabase, 'read' | 'table'>,
  condition: string,
  limit: string,
  ...values: unknown[]
): Promise<Erasure[]> => {
  const rows = await read<Erasure>(
    `SELECT ${number('place')}, project, user_id, channel, event, received_from AS "from",
      received_to AS "to", ${number('upto')}
    FROM ${table('erasures')} WHERE ${condition} ORDER BY erasures.place LIMIT ${limit}`,
    ...values,
  );
  return rows.map(present);
};

export const createProgress = (
  database: ProgressDatabase,
  { leaveOut }: Pick<RefusedList, 'leaveOut'>,
): Progress => {
  const { read, write, transaction, table, now, ownProcess, hasEnded } = database;
  /** Runs statements one after the other, and returns the rows of the last one. */
  const run = async <Row>(...statements: readonly PlainStatement[]): Promise<Row[]> => {
    if (statements.length === 1) return write<Row>(...statements[0]!);
    return transaction(async (inside) => {
      let rows: Row[] = [];
      for (const statement of statements) rows = await inside<Row>(...statement);
      return rows;
    });
  };
  const records = table('records');
  const [source, erasures, secrets] = [table('source'), table('erasures'), table('secrets')];
  const [targets, refused, parked] = [table('targets'), table('refused'), table('parked')];
  const held = `name = $1 AND number = $2`;
  const isHeard = `is_done = 1
    AND NOT EXISTS (SELECT 1 FROM ${erasures} AS u WHERE u.is_done = 0 AND u.place < erasures.place)`;
  const LOCK = `name AS target, ${number('number')}, ${number('place')}, ${number('erased')}, memo`;

  return {
    source: async () => {
      const [last, ...former] = await read<{ id: string; since: number }>(
        `SELECT id, ${number('since')} FROM ${source} ORDER BY source.number DESC`,
      );
      return { ...last!, former: former.map(({ id }) => id) };
    },
    newSource: async (since) => {
      const id = nanoid();
      await run([
        `INSERT INTO ${source} (number, id, since)
        SELECT max(number) + 1, $1, CAST($2 AS bigint) FROM ${source}`,
        ...[id, since],
      ]);
      return id;
    },
    take: async (target, id, { from = 0, force = false, ms = LOCK_MS } = {}) => {
      const holder = `${ownProcess()} ${id}`;
      const [known] = await read<{ holder: string | null }>(
        `SELECT holder FROM ${targets} WHERE name = $1`,
        target,
      );
      const ended = known?.holder && hasEnded(known.holder) ? known.holder : holder;
      const isFree = `holder IS NULL OR holder = $2 OR holder = $4 OR until < ${now}`;
      const [lock] = await run<Omit<TargetLock, 'ms'>>(
        [
          `INSERT INTO ${targets} (name, place, erased, number, until)
          VALUES ($1, $2, $2, 0, 0) ON CONFLICT (name) DO NOTHING`,
          ...[target, from],
        ],
        [
          `UPDATE ${targets} SET holder = $2, number = number + 1, until = ${now} + $3
          WHERE name = $1 AND (${isFree} OR $5 = 1) RETURNING ${LOCK}`,
          ...[target, holder, ms, ended, force ? 1 : 0],
        ],
      );
      return lock && { ...present(lock), ms };
    },
    keep: async ({ target, number, ms }, { place, erased, message, memo } = {}) => {
      const rows = await run([
        `UPDATE ${targets} SET until = ${now} + $8, place = coalesce($3, place),
            erased = coalesce($4, erased), message = CASE $5 WHEN 'same' THEN message ELSE $6 END,
            memo = coalesce($7, memo)
          WHERE ${held} RETURNING name`,
        ...[target, number, place ?? null, erased ?? null],
        ...[message === undefined ? 'same' : 'set', message ?? null, memo ?? null, ms],
      ]);
      return rows.length > 0;
    },
    release: async ({ target, number }) => {
      await run([`UPDATE ${targets} SET holder = NULL, until = 0 WHERE ${held}`, target, number]);
    },
    targets: async () => {
      const rows = await read<Omit<TargetState, 'isHeld'> & { held: number }>(
        `SELECT name, ${number('place')}, ${number('erased')}, message,
          CASE WHEN holder IS NOT NULL AND until >= ${now} THEN 1 ELSE 0 END AS held,
          (SELECT ${number('count(*)', 'count')} FROM ${refused} WHERE reader = name) AS dead,
          (SELECT ${number('count(*)', 'count')} FROM (
            SELECT 1 FROM ${parked} WHERE target = name LIMIT ${MOST_COUNTED}) AS p) AS parked,
          (SELECT ${number('min(place)', 'first')} FROM ${parked} AS p WHERE target = name) AS owes
        FROM ${targets} ORDER BY name`,
      );
      return rows.map(({ held, ...row }) => ({ ...present(row), isHeld: held === 1 }));
    },
    forget: async (target) => {
      const rows = await run(
        [`DELETE FROM ${refused} WHERE reader = $1`, target],
        [`DELETE FROM ${parked} WHERE target = $1`, target],
        [`DELETE FROM ${targets} WHERE name = $1 RETURNING name`, target],
      );
      return rows.length > 0;
    },
    moveTo: async (target, place) => {
      const rows = await run(
        [`DELETE FROM ${refused} WHERE reader = $1 AND place > $2`, target, place],
        [`DELETE FROM ${parked} WHERE target = $1 AND place > $2`, target, place],
        [
          `UPDATE ${targets} SET place = $2, holder = NULL, number = number + 1, memo = NULL
          WHERE name = $1
          RETURNING name`,
          ...[target, place],
        ],
      );
      return rows.length > 0;
    },
    bury: ({ target }, dead) =>
      transaction((inside) =>
        leaveOut(
          inside,
          target,
          dead.map(({ place, message }) => [place, message]),
        ),
      ),
    unbury: async (target, places) => {
      for (const place of places)
        await run([`DELETE FROM ${refused} WHERE reader = $1 AND place = $2`, target, place]);
    },
    dead: (target, after, limit) =>
      read(
        `SELECT ${number('place')}, message FROM ${refused} WHERE reader = $1 AND place > $2
        ORDER BY refused.place LIMIT $3`,
        ...[target, after, limit],
      ),
    erasures: (after, limit) =>
      readErasures(database, `place > $1 AND ${isHeard}`, '$2', after, limit),
    lastErasure: async () => {
      const [row] = await read<{ place: number }>(
        `SELECT ${number('coalesce(max(place), 0)', 'place')} FROM ${erasures} WHERE ${isHeard}`,
      );
      return row!.place;
    },
    sumPlaces: async ({ from, to, block }) => {
      const rows = await read<PlaceSum & { first: number }>(
        `SELECT ${number(`seq / ${block} * ${block}`, 'first')}, ${number('count(*)', 'rows')},
          ${number('sum(seq)', 'places')}
        FROM ${records} WHERE seq >= $1 AND seq < $2 GROUP BY 1`,
        ...[from, to],
      );
      return new Map(rows.map(({ first, ...sum }) => [first, sum]));
    },
    places: async ({ from, to }) => {
      const rows = await read<{ seq: number }>(
        `SELECT ${number('seq')} FROM ${records} WHERE seq >= $1 AND seq < $2 ORDER BY records.seq`,
        ...[from, to],
      );
      return rows.map(({ seq }) => seq);
    },
    parked: createParked(database),
    secretOf: async (day) => {
      const [made] = await read<{ secret: string }>(
        `SELECT secret FROM ${secrets} WHERE day = $1`,
        day,
      );
      if (made) return made.secret;
      const [row] = await run<{ secret: string }>(
        [`DELETE FROM ${secrets} WHERE day < $1`, daysBefore(day, SECRET_DAYS)],
        [
          `INSERT INTO ${secrets} (day, secret) VALUES ($1, $2)
          ON CONFLICT (day) DO UPDATE SET secret = secrets.secret RETURNING secret`,
          ...[day, nanoid(32)],
        ],
      );
      return row!.secret;
    },
  };
};
