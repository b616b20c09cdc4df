import type { Incoming } from '../incoming.js';
import { createValues, number, type Database, type Run } from './database.js';
import { readDead, writeDead } from './dead-letter.js';
import { createGroups } from './groups.js';
import { namesUser } from './names-user.js';
import type { NewRefused, Refused, Span } from './port.js';
import { present } from './present.js';
import type { RefusedRow } from './reader.js';
import {
  MAX_DEAD,
  MAX_DEAD_SIZE,
  MAX_OF_TARGET,
  MAX_REFUSED,
  refusedText,
} from './refused-bounds.js';
import { storable, storableText } from './storable.js';

const COLUMNS = [
  ...(['received_at', 'reason', 'status', 'message', 'id', 'type', 'project'] as const),
  ...(['user_id', 'body', 'client', 'record'] as const),
];

const valuesOf = ({ record, ...one }: NewRefused): unknown[] => {
  const values: Readonly<Partial<Record<(typeof COLUMNS)[number], unknown>>> = {
    ...one,
    record: record && writeDead(storable(record)),
  };
  return COLUMNS.map((name) => {
    const value = values[name];
    return typeof value === 'string' && name !== 'record' ? refusedText(value) : value;
  });
};

/** A row that a reader has left out, or that a target has refused, with its place. */
export interface LeftOut {
  seq: number;
  /** A reader of the store, or the name of a target. */
  reader: string;
  place: number;
  message: string;
}

const isTarget = (reader: string): boolean => reader !== 'sums' && reader !== 'profiles';

/** Keeps what was refused, within bounds. */
export const createRefused = (database: Database) => {
  const { table, each, texts, turn, time, iso, has, read, write } = database;
  const [refused, records] = [table('refused'), table('records')];
  const expressions: Partial<Record<(typeof COLUMNS)[number], (value: string) => string>> = {
    received_at: time,
    status: (value) => `CAST(${value} AS integer)`,
  };
  const values = COLUMNS.map((name, index) => {
    const value = `value->>${index}`;
    return expressions[name]?.(value) ?? value;
  });
  const insert = (condition: string) => `
    WITH ${turn('refused')}
    INSERT INTO ${refused} (${COLUMNS.join(', ')})
    SELECT ${values.join(', ')} FROM turn, ${each('$1')} WHERE ${condition} ORDER BY key
    RETURNING 1 AS added`;
  const insertAll = insert('TRUE');
  const insertNew = insert(`NOT EXISTS (
    SELECT 1 FROM ${refused} AS r WHERE r.received_at = ${values[0]} AND r.reason = value->>1
      AND r.message = value->>3 AND r.body IS NOT DISTINCT FROM value->>8)`);
  const insertRows = `
    WITH ${turn('refused')}
    INSERT INTO ${refused} (received_at, reason, status, message, id, type, project, user_id, client,
      reader, place)
    SELECT r.received_at, CAST($3 AS text), 200, value->>1, r.id, r.type, r.project, r.user_id, r.client,
      CAST($2 AS text), r.seq
    FROM turn, ${each('$1')} JOIN ${records} AS r ON r.seq = CAST(value->>0 AS bigint) ORDER BY key`;
  const LIST = `seq IN (SELECT CAST(value AS bigint) FROM ${texts('$1')})`;
  const trimRefused = `
    DELETE FROM ${refused} WHERE size = 0 AND place IS NULL AND seq <= coalesce((
      SELECT seq FROM ${refused} WHERE size = 0 AND place IS NULL ORDER BY seq DESC LIMIT 1 OFFSET ${MAX_REFUSED}), 0)`;
  const trimDead = `
    DELETE FROM ${refused} WHERE size > 0 AND seq <= coalesce((
      SELECT max(seq) FROM (
        SELECT seq, row_number() OVER w AS number, sum(size) OVER w AS sum
        FROM ${refused} WHERE size > 0 WINDOW w AS (ORDER BY seq DESC)
      ) AS newest WHERE number > ${MAX_DEAD} OR sum > ${MAX_DEAD_SIZE}), 0)`;

  const removeRows = `DELETE FROM ${refused} WHERE reader = $2 AND place IN (
    SELECT CAST(value->>0 AS bigint) FROM ${each('$1')})`;
  const trimRows = `
    DELETE FROM ${refused} WHERE reader = $1 AND seq <= coalesce((
      SELECT seq FROM ${refused} WHERE reader = $1 ORDER BY seq DESC LIMIT 1 OFFSET ${MAX_OF_TARGET}), 0)
    RETURNING 1 AS removed`;

  const keep = async (given: readonly NewRefused[], statement = insertAll): Promise<number> => {
    if (!given.length) return 0;
    const added = await write(statement, JSON.stringify(given.map(valuesOf)));
    await write(trimRefused);
    if (given.some(({ record }) => record)) await write(trimDead);
    return added.length;
  };
  const groups = createGroups<NewRefused, undefined>({
    run: async (given) => {
      await keep(given);
      return [];
    },
    lanes: 1,
  });
  const remove = (seqs: readonly number[]) =>
    write(`DELETE FROM ${refused} WHERE ${LIST}`, JSON.stringify(seqs));
  const inOrderOf = <One extends { seq: number }>(seqs: readonly number[], all: readonly One[]) => {
    const found = new Map(all.map((one) => [one.seq, one]));
    return seqs.flatMap((seq) => found.get(seq) ?? []);
  };

  return {
    whenIdle: groups.whenIdle,
    refuse: async (given: readonly NewRefused[]): Promise<void> => void (await groups.add(given)),
    /** Keeps those that are not here yet, and returns how many that were. */
    adopt: (given: readonly NewRefused[]) => keep(given, insertNew),
    /**
     * Keeps rows that a reader has left out, or that a target has refused. Their records are in the rows. Returns how many
     * of the oldest were deleted, because there were too many.
     */
    leaveOut: async (run: Run, reader: string, rows: readonly RefusedRow[]): Promise<number> => {
      const list = JSON.stringify(rows.map(([place, words]) => [place, refusedText(words)]));
      await run(removeRows, list, reader);
      await run(insertRows, list, reader, isTarget(reader) ? 'target' : 'database');
      return (await run(trimRows, reader)).length;
    },
    read: async (
      { after = 0, before = Number.MAX_SAFE_INTEGER, limit, newest }: Span,
      project?: string,
    ): Promise<Refused[]> => {
      const { values: given, value } = createValues();
      const where = [`r.seq > ${value(after)}`, `r.seq < ${value(before)}`];
      if (project !== undefined) where.push(`project = ${value(storableText(project))}`);
      const rows = await read<
        Refused & { size: number; place: number | null; reader: string | null }
      >(
        `SELECT ${number('r.seq', 'seq')}, ${iso('received_at')} AS received_at, reason, status, message,
          id, type, project, user_id, body, client, size, ${number('place')}, reader
        FROM ${refused} AS r WHERE ${where.join(' AND ')}
        ORDER BY r.seq ${newest ? 'DESC' : 'ASC'} LIMIT ${value(limit)}`,
        ...given,
      );
      return rows.map(({ size, place, reader, ...row }) => ({
        ...present(row),
        ...(reader !== null && isTarget(reader) && { target: reader }),
        ...((size || place !== null) && { isDead: true }),
      }));
    },
    count: async (project?: string): Promise<number> => {
      const [row] = await read<{ count: number }>(
        `SELECT ${number('count(*)', 'count')} FROM ${refused}
        ${project === undefined ? '' : 'WHERE project = $1'}`,
        ...(project === undefined ? [] : [storableText(project)]),
      );
      return row!.count;
    },
    dead: async (seqs: readonly number[]): Promise<{ seq: number; record: Incoming }[]> => {
      const rows = await read<{ seq: number; record: string }>(
        `SELECT ${number('seq')}, record FROM ${refused} WHERE ${LIST} AND size > 0`,
        JSON.stringify(seqs),
      );
      return inOrderOf(seqs, rows).map(({ seq, record }) => ({ seq, record: readDead(record) }));
    },
    leftOut: async (seqs: readonly number[]): Promise<LeftOut[]> =>
      inOrderOf(
        seqs,
        await read<LeftOut>(
          `SELECT ${number('seq')}, reader, ${number('place')}, message FROM ${refused}
          WHERE ${LIST} AND place IS NOT NULL`,
          JSON.stringify(seqs),
        ),
      ),
    remove,
    purge: async (seqs: readonly number[]): Promise<number> => {
      const rows = await write(
        `DELETE FROM ${refused} WHERE ${LIST} AND (size > 0 OR place IS NOT NULL) RETURNING seq`,
        JSON.stringify(seqs),
      );
      return rows.length;
    },
    /** For a dead record that was refused again, perhaps for another reason. */
    rename: (seq: number, message: string) =>
      write(`UPDATE ${refused} SET message = $2 WHERE seq = $1`, seq, refusedText(message)),
    expire: async (before: string): Promise<void> =>
      void (await write(`DELETE FROM ${refused} WHERE received_at < ${time('$1')}`, before)),
    removeOfUser: async (project: string, userId: string): Promise<void> => {
      const isOfProject = '(project = $1 OR project IS NULL)';
      // The record of a dead one is JSON as we write it. The other bodies are as strangers sent them.
      await write(
        `DELETE FROM ${refused} WHERE ${isOfProject} AND (user_id = $2 OR ${has('record', '$3')})`,
        ...[project, userId, JSON.stringify(userId)],
      );
      const bodies = await read<{ seq: number; body: string }>(
        `SELECT ${number('seq')}, body FROM ${refused}
        WHERE ${isOfProject} AND size = 0 AND body IS NOT NULL`,
        project,
      );
      await remove(bodies.flatMap(({ seq, body }) => (namesUser(body, userId) ? [seq] : [])));
    },
  };
};

export type RefusedList = ReturnType<typeof createRefused>;
