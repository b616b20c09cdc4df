import { PATIENCE, type Incoming } from '../incoming.js';
import { number, type Database } from './database.js';
import type { PlainStatement } from './progress.js';

/** The name of the target that is another service. It is the same for any address, so that one that moves goes on. */
export const SERVICE = 'service';

/**
 * A row that is still to be sent to a target, though its place has passed it. It has a time at which it is tried, or it
 * waits behind others with the same key: behind the identify of its line, or with all rows of its client. Of the rows
 * with one key only the first has a time, so a client with a hundred thousand of them is tried as one.
 */
export interface ParkedRow {
  place: number;
  /** The line, if it is an identify. */
  line?: string | undefined;
  /** The key: a line, or the sender. */
  behind?: string | undefined;
  /** When it is tried, in milliseconds since the epoch; missing if it has a key. */
  due?: number | undefined;
  /** How often it has failed, and since when; 0 if it has not. */
  tries: number;
  since: number;
}

/** When the first row with a key is tried next. */
export interface NextTry {
  key: string;
  due: number;
  /** Whether an earlier time is replaced. */
  isNew: boolean;
}

/** What becomes durable together. */
export interface Step {
  /** The place of the target from now on, if it moves. */
  place?: number;
  park: readonly ParkedRow[];
  /** The places of rows that are not to be sent any more. */
  unpark: readonly number[];
  next: readonly NextTry[];
}

/** A row as the record that it was. */
export interface StoredRecord extends Incoming {
  place: number;
}

export interface Parked {
  /** Returns false if another process has the target by now. */
  step(lock: { target: string; number: number }, step: Step): Promise<boolean>;
  /** Rows and keys that are due. `fresh`: none that has failed itself. */
  due(
    target: string,
    now: number,
    options: { limit: number; isFresh: boolean },
  ): Promise<{ place: number; behind: string | null; tries: number; since: number }[]>;
  /** The first time at which a row or key will be due. */
  nextDue(target: string, now: number): Promise<number | undefined>;
  /** The first rows with a key. */
  behind(
    target: string,
    key: string,
    limit: number,
  ): Promise<{ place: number; tries: number; since: number }[]>;
  /**
   * Which of some rows have to wait for a parked identify of their line: an identify for any that was put before it, an
   * event for one that has not failed three times. Identifies that are being sent again do not count.
   */
  blocked(
    target: string,
    rows: readonly { place: number; line: string; isIdentify: boolean }[],
    going: readonly number[],
  ): Promise<Set<number>>;
  /** Has a row sent that the service has refused. */
  again(place: number): Promise<undefined>;
  /** Makes all rows and keys due. */
  tryNow(target: string): Promise<void>;
  /** Rows behind a place, as records. */
  recordsBehind(place: number, limit: number): Promise<StoredRecord[]>;
  /** Those of the rows at these places that are still stored. */
  recordsAt(places: readonly number[]): Promise<StoredRecord[]>;
  /** Their places. */
  stored(places: readonly number[]): Promise<number[]>;
}

/** All indexes begin with the target, since SQLite would take one with fewer equal columns for everything. */
export const parkedTables = (table: (name: string) => string): string => `
  CREATE TABLE ${table('parked')} (
    target TEXT NOT NULL,
    place bigint NOT NULL,
    line TEXT,
    behind TEXT,
    due bigint,
    tries integer NOT NULL,
    since bigint NOT NULL,
    PRIMARY KEY (target, place)
  );
  CREATE INDEX parked_due ON ${table('parked')} (target, due, place);
  CREATE INDEX parked_line ON ${table('parked')} (target, line, place);
  CREATE INDEX parked_behind ON ${table('parked')} (target, behind, place);`;

/** An item of a list in a JSON array. */
const long = (index: number): string => `CAST(value->>${index} AS bigint)`;

export const createParked = ({
  read,
  write,
  transaction,
  table,
  each,
  iso,
}: Pick<Database, 'read' | 'write' | 'transaction' | 'table' | 'each' | 'iso'>): Parked => {
  const [parked, targets, records] = [table('parked'), table('targets'), table('records')];
  const places = `SELECT ${long(0)} FROM ${each('$2')}`;
  const listOf = (all: readonly number[]): string => JSON.stringify(all.map((place) => [place]));

  const parkAll = (target: string, rows: readonly ParkedRow[]): PlainStatement => [
    `INSERT INTO ${parked} (target, place, line, behind, due, tries, since)
    SELECT $1, ${long(0)}, value->>1, value->>2, ${long(3)}, ${long(4)}, ${long(5)} FROM ${each('$2')}
    WHERE EXISTS (SELECT 1 FROM ${records} WHERE seq = ${long(0)})
    ON CONFLICT (target, place) DO UPDATE SET behind = excluded.behind, due = excluded.due,
      tries = excluded.tries, since = excluded.since`,
    ...[target, JSON.stringify(rows.map(columnsOf))],
  ];
  /** The first row behind an identify of its line has no time while that is parked. */
  const tryNext = (target: string, next: readonly NextTry[]): PlainStatement => [
    `UPDATE ${parked} SET due = CASE
      WHEN EXISTS (SELECT 1 FROM ${parked} AS b WHERE b.target = $1 AND b.line = parked.behind
        AND b.place < parked.place AND (parked.line IS NOT NULL OR b.tries < ${PATIENCE})) THEN NULL
      ELSE (SELECT max(${long(1)}) FROM ${each('$2')} WHERE value->>0 = parked.behind) END
    WHERE target = $1 AND place IN (
      SELECT (SELECT min(p.place) FROM ${parked} AS p WHERE p.target = $1 AND p.behind = value->>0)
      FROM ${each('$2')} WHERE ${long(2)} = 1 OR NOT EXISTS (
        SELECT 1 FROM ${parked} AS d WHERE d.target = $1 AND d.behind = value->>0
          AND d.due IS NOT NULL))`,
    ...[target, JSON.stringify(next.map(({ key, due, isNew }) => [key, due, isNew ? 1 : 0]))],
  ];
  const asRecords = async (rows: Promise<Columns[]>): Promise<StoredRecord[]> =>
    (await rows).map(recordOf);
  const COLUMNS = `SELECT ${number('seq', 'place')}, id, type, CAST(body AS TEXT) AS body,
    ${iso('called_at')} AS called_at, ${iso('received_at')} AS received_at, sender,
    from_server FROM ${records}`;

  return {
    step: ({ target, number: own }, { place, park, unpark, next }) =>
      transaction(async (ask) => {
        const held = await ask(
          `UPDATE ${targets} SET place = coalesce($3, place) WHERE name = $1 AND number = $2 RETURNING name`,
          ...[target, own, place ?? null],
        );
        if (!held.length) return false;
        if (park.length) await ask(...parkAll(target, park));
        if (unpark.length)
          await ask(
            `DELETE FROM ${parked} WHERE target = $1 AND place IN (${places})`,
            ...[target, listOf(unpark)],
          );
        if (next.length) await ask(...tryNext(target, next));
        return true;
      }),
    due: (target, now, { limit, isFresh }) =>
      read(
        `SELECT ${number('place')}, behind, tries, ${number('since')} FROM ${parked}
        WHERE target = $1 AND due <= $2 ${isFresh ? 'AND (tries = 0 OR behind IS NOT NULL)' : ''}
        ORDER BY parked.due, parked.place LIMIT $3`,
        ...[target, now, limit],
      ),
    nextDue: async (target, now) => {
      const [row] = await read<{ due: number | null }>(
        `SELECT ${number('min(due)', 'due')} FROM ${parked} WHERE target = $1 AND due > $2`,
        ...[target, now],
      );
      return row!.due ?? undefined;
    },
    behind: (target, key, limit) =>
      read(
        `SELECT ${number('place')}, tries, ${number('since')} FROM ${parked}
        WHERE target = $1 AND behind = $2 ORDER BY parked.place LIMIT $3`,
        ...[target, key, limit],
      ),
    blocked: async (target, rows, going) => {
      const blocked = await read<{ place: number }>(
        `SELECT ${number(long(0), 'place')} FROM ${each('$2')}
        WHERE EXISTS (SELECT 1 FROM ${parked} AS b WHERE b.target = $1 AND b.line = value->>1
          AND b.place < ${long(0)} AND (${long(2)} = 1 OR b.tries < ${PATIENCE})
          AND b.place NOT IN (SELECT CAST(g.value->>0 AS bigint) FROM ${each('$3', 'g')}))`,
        target,
        JSON.stringify(
          rows.map(({ place, line, isIdentify }) => [place, line, isIdentify ? 1 : 0]),
        ),
        listOf(going),
      );
      return new Set(blocked.map(({ place }) => place));
    },
    again: async (place) => {
      await write(...parkAll(SERVICE, [{ place, due: 0, tries: 0, since: 0 }]));
      return undefined;
    },
    tryNow: async (target) =>
      void (await write(`UPDATE ${parked} SET due = 0 WHERE target = $1 AND due > 0`, target)),
    recordsBehind: (place, limit) =>
      asRecords(read(`${COLUMNS} WHERE seq > $1 ORDER BY records.seq LIMIT $2`, place, limit)),
    recordsAt: (all) =>
      asRecords(
        read(`${COLUMNS} WHERE seq IN (SELECT ${long(0)} FROM ${each('$1')})`, listOf(all)),
      ),
    stored: async (all) => {
      const rows = await read<{ place: number }>(
        `SELECT ${number('seq', 'place')} FROM ${records}
        WHERE seq IN (SELECT ${long(0)} FROM ${each('$1')})`,
        listOf(all),
      );
      return rows.map(({ place }) => place);
    },
  };
};

const columnsOf = ({ place, line, behind, due, tries, since }: ParkedRow) => [
  ...[place, line ?? null, behind ?? null, due ?? null, tries, since],
];

interface Columns {
  place: number;
  id: string;
  type: Incoming['type'];
  body: string;
  called_at: string;
  received_at: string;
  sender: string | null;
  from_server: unknown;
}

const recordOf = ({
  place,
  id,
  type,
  body: text,
  sender,
  from_server: fromServer,
  ...times
}: Columns): StoredRecord => ({
  ...{ place, id, type, text, body: JSON.parse(text) as Incoming['body'] },
  ...{ calledAt: times.called_at, receivedAt: times.received_at },
  ...(sender !== null && { sender }),
  ...(fromServer ? { fromServer: true } : {}),
});
