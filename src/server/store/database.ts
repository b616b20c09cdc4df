import type { Room } from './port.js';

/** Runs a statement. `$1` to `$9` stand for the values. */
export type Run = <Row = unknown>(sql: string, ...values: unknown[]) => Promise<Row[]>;

/** One way to write down what the engines do not have in common. The names are those of SQL expressions and clauses. */
export interface Dialect {
  /** The name of a table. */
  table: (name: string) => string;
  /** A JSON array of arrays as a table with the columns `value` and `key`: `value->>0` is the first item of one. */
  each: (parameter: string, name?: string) => string;
  /** A JSON array of texts or numbers as a table with the column `value`. */
  texts: (parameter: string) => string;
  /**
   * A part of a WITH clause that waits for the lock of the rows, or of the refused, until the transaction ends: places
   * appear in their order, and no two processes wait for single rows of each other.
   */
  turn: (what?: 'rows' | 'refused') => string;
  /** Lock the selected row, or select none if another process has locked it. */
  lock: string;
  lockIfFree: string;
  /** A text in ISO 8601 as a time, and a text as JSON, plain or ready to be looked into. */
  time: (text: string) => string;
  json: (text: string) => string;
  jsonb: (text: string) => string;
  /** A time in ISO 8601, in milliseconds, and as the hour that it is in; such an hour in ISO 8601. */
  iso: (time: string) => string;
  ms: (time: string) => string;
  hour: (time: string) => string;
  isoHour: (hour: string) => string;
  /** The database's own time in milliseconds. */
  now: string;
  /** Whether a JSON text has a text in it, or fits a pattern, which `pattern` makes. */
  has: (json: string, text: string) => string;
  matches: (json: string, pattern: string) => string;
  /** The pattern of all texts that have this text in any case, as JSON writes it. */
  pattern: (text: string) => string;
  /** Demands an index of the rows, or none, from an engine that would choose another one. */
  indexed: (by: 'user' | undefined) => string;
  /**
   * The members of a JSON object, or of the object that one of its members is, as a table `one` with the column `key`; and
   * the value of such a member: a letter for its kind (see `readMember`) and its text, cut by the database.
   */
  members: (json: string, member?: 'tags') => string;
  memberValue: string;
  /** A list as JSON text: of pairs, or of numbers. */
  pairs: (one: string, other: string) => string;
  numbers: (column: string) => string;
  /** Reads the highest place so far, and takes the next one by the last of some statements. */
  lastPlace: string;
  nextPlace: readonly string[];
}

/** What an engine is: connections, a lock and a dialect. */
export interface Database extends Dialect {
  read: Run;
  /** One statement, which is a transaction of its own. */
  write: Run;
  /** Runs work in a transaction that may run again if Postgres has ended it in favour of another one. */
  transaction: <Result>(work: (run: Run) => Promise<Result>) => Promise<Result>;
  /**
   * A name of this process, and whether the process with such a name has ended: false if that cannot be told. It is the
   * engine's, since code that also runs at an edge knows of no processes.
   */
  ownProcess: () => string;
  hasEnded: (text: string) => boolean;
  /** How many statements may store at once. */
  lanes: number;
  /** Whether reading blocks the only thread. */
  blocks: boolean;
  /** The words of the database, if it refuses a row itself, and neither the connection nor the statement. */
  wordsOfRefusal: (error: unknown) => string | undefined;
  /** Whether a statement ran for too long. Waiting for a lock for too long does not count. */
  isLate: (error: unknown) => boolean;
  check: (options?: { asksForRoom?: boolean }) => Promise<void>;
  room: () => Promise<Room | undefined>;
  /** Calls followers when something was stored or refused, by this process or another one. */
  follow: (onRows: () => void) => () => void;
  told: () => void;
  close: () => Promise<void>;
}

/** A number of the database that JavaScript gets as a number. */
export const number = (column: string, as = column): string =>
  `CAST(${column} AS double precision) AS ${as}`;

/** The values of a statement, as they are named in it. */
export const createValues = (values: unknown[] = []) => {
  return { values, value: (value: unknown): string => `$${values.push(value)}` };
};
