import type { Incoming } from '../../incoming.js';
import type { NewRefused, Refused, Span } from '../port.js';
import { MAX_DEAD, MAX_DEAD_SIZE, MAX_REFUSED, refusedText } from '../refused-bounds.js';
import { readDead, writeDead } from '../dead-letter.js';
import { createGroups } from '../groups.js';
import { storable, storableText } from '../storable.js';
import { present } from '../present.js';
import { isoOut, placeOut, unnest, type Tables } from './columns.js';
import type { PostgresDatabase } from './database.js';
import { lockOf } from './schema.js';
import { createConditions, pageOf } from './span.js';

const GIVEN = unnest({
  received_at: 'timestamptz',
  reason: 'text',
  status: 'integer',
  message: 'text',
  id: 'text',
  type: 'text',
  project: 'text',
  user_id: 'text',
  body: 'text',
  client: 'text',
  record: 'text',
});
const COLUMNS =
  'received_at, reason, status, message, id, type, project, user_id, body, client, record';

const columnsOf = ({ record, ...refused }: NewRefused) => {
  const texts = Object.entries(refused).map(([name, value]) => [
    ...[name, typeof value === 'string' ? refusedText(value) : value],
  ]);
  return {
    ...(Object.fromEntries(texts) as Omit<NewRefused, 'record'>),
    record: record && writeDead(storable(record)),
  };
};

export const createRefused = (database: PostgresDatabase, tables: Tables, schema: string) => {
  const { refused } = tables;
  const insert = (condition: string) => `
    WITH turn AS MATERIALIZED (SELECT ${lockOf(schema, 'refused')}),
    written AS (
      INSERT INTO ${refused} (${COLUMNS})
      SELECT ${COLUMNS}
      FROM turn, ${GIVEN.table} WHERE ${condition} ORDER BY n
      RETURNING seq
    )
    SELECT count(*)::integer AS added FROM written`;
  const isNew = `NOT EXISTS (
    SELECT 1 FROM ${refused} AS r WHERE r.received_at = given.received_at
      AND r.reason = given.reason AND r.message = given.message
      AND r.body IS NOT DISTINCT FROM given.body)`;
  /** Deletes the oldest of a kind beyond a number, or beyond a size of all together. */
  const trim = (kind: string, most: number) => `
    DELETE FROM ${refused} WHERE record ${kind} AND seq <= (
      SELECT max(seq) FROM (
        SELECT seq, row_number() OVER w AS number, sum(octet_length(record)) OVER w AS size
        FROM ${refused} WHERE record ${kind} WINDOW w AS (ORDER BY seq DESC)
      ) AS newest WHERE number > ${most} OR size > ${MAX_DEAD_SIZE})`;

  const keep = async (given: readonly NewRefused[], condition = 'true'): Promise<number> => {
    const values = GIVEN.valuesOf(given.map(columnsOf));
    const [row] = await database.write<{ added: number }>({ text: insert(condition), values });
    await database.write({ text: trim('IS NULL', MAX_REFUSED) });
    if (given.some(({ record }) => record))
      await database.write({ text: trim('IS NOT NULL', MAX_DEAD) });
    return row!.added;
  };
  const groups = createGroups<NewRefused, undefined>({
    run: async (given) => {
      await keep(given);
      return [];
    },
    lanes: 1,
  });

  return {
    whenIdle: groups.whenIdle,
    refuse: async (given: readonly NewRefused[]): Promise<void> => void (await groups.add(given)),
    /** Keeps those that are not here yet, and returns how many that were. */
    adopt: (given: readonly NewRefused[]) => keep(given, isNew),
    read: async (span: Span, project?: string): Promise<Refused[]> => {
      const conditions = createConditions();
      if (project !== undefined)
        conditions.add(`project = ${conditions.value(storableText(project))}`);
      const { condition, order, values } = pageOf(span, conditions);
      const rows = await database.read<Refused>({
        text: `SELECT ${placeOut('r.seq')}, ${isoOut('received_at')} AS received_at, reason, status, message,
            id, type, project, user_id, body, client, CASE WHEN record IS NOT NULL THEN true END AS "isDead"
          FROM ${refused} AS r WHERE ${condition} ${order}`,
        values,
      });
      return rows.map(present);
    },
    count: async (project?: string): Promise<number> => {
      const [row] = await database.read<{ count: number }>({
        text: `SELECT count(*)::integer AS count FROM ${refused}${project === undefined ? '' : ' WHERE project = $1'}`,
        values: project === undefined ? [] : [storableText(project)],
      });
      return row!.count;
    },
    dead: async (seqs: readonly number[]): Promise<{ seq: number; record: Incoming }[]> => {
      const rows = await database.read<{ seq: number; record: string }>({
        text: `SELECT ${placeOut('r.seq')}, record FROM ${refused} AS r
          WHERE seq = ANY($1::bigint[]) AND record IS NOT NULL ORDER BY array_position($1, r.seq)`,
        values: [seqs],
      });
      return rows.map(({ seq, record }) => ({ seq, record: readDead(record) }));
    },
    remove: (seqs: readonly number[]) =>
      database.write({
        text: `DELETE FROM ${refused} WHERE seq = ANY($1::bigint[])`,
        values: [seqs],
      }),
    purge: async (seqs: readonly number[]): Promise<number> => {
      const rows = await database.write({
        text: `DELETE FROM ${refused} WHERE seq = ANY($1::bigint[]) AND record IS NOT NULL RETURNING seq`,
        values: [seqs],
      });
      return rows.length;
    },
    /** For a dead record that was refused again, perhaps for another reason. */
    rename: (seq: number, message: string) =>
      database.write({
        text: `UPDATE ${refused} SET message = $2 WHERE seq = $1`,
        values: [seq, refusedText(message)],
      }),
  };
};
