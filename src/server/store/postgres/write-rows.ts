import type { RecordType } from '../../../interface/bodies.js';
import { LARGE_PROFILE } from '../../profile-limit.js';
import { unnest, type Tables } from './columns.js';
import type { PostgresDatabase } from './database.js';
import { mergeIdentifies } from './profiles.js';
import { lockOf, notifyOf } from './schema.js';

/** A record in the columns of the table. */
export interface StoredRecord {
  project: string;
  type: RecordType;
  id: string;
  channel?: string | undefined;
  event?: string | undefined;
  user_id?: string | undefined;
  /** JSON. */
  body: string;
  called_at: string;
  received_at: string;
  arrivals: number;
  client?: string | undefined;
}

export type RecordKey = Pick<StoredRecord, 'project' | 'type' | 'id'>;

export interface Stored {
  /** Records that were there already. */
  known?: readonly RecordKey[] | null;
  /** Large profiles that were merged into. */
  large?: readonly { project: string; user_id: string; size: number }[] | null;
}

const GIVEN = unnest({
  project: 'text',
  type: 'text',
  id: 'text',
  channel: 'text',
  event: 'text',
  user_id: 'text',
  body: 'text',
  called_at: 'timestamptz',
  received_at: 'timestamptz',
  arrivals: 'integer',
  client: 'text',
});

/**
 * The statements that store rows. All of a batch is one statement, and so one transaction: the lock, the rows, their
 * counts, the profiles and the notice for those who follow. No two of the rows given have the same key.
 */
export const createRowWriter = (database: PostgresDatabase, tables: Tables, schema: string) => {
  const insert = `
    INSERT INTO ${tables.records} AS r (project, type, id, channel, event, user_id, body,
      called_at, received_at, arrivals, client)
    SELECT project, type, id, channel, event, user_id, body::json,
      called_at, received_at, arrivals, client
    FROM turn, ${GIVEN.table} ORDER BY n
    ON CONFLICT (project, type, id)`;
  const turn = `turn AS MATERIALIZED (SELECT ${lockOf(schema, 'rows')})`;
  const counted = `counted AS (
      INSERT INTO ${tables.counts} AS c (project, type, rows)
      SELECT project, type, count(*) FROM fresh GROUP BY project, type
      ON CONFLICT (project, type) DO UPDATE SET rows = c.rows + excluded.rows
    )`;
  const told = `(SELECT count(${notifyOf(schema)}) FROM (SELECT 1 FROM fresh LIMIT 1) AS one)`;

  const store = `WITH ${turn},
    written AS (${insert} DO UPDATE SET arrivals = r.arrivals + 1
      RETURNING seq, project, type, id, user_id, called_at, received_at, arrivals,
        CASE WHEN type = 'identify' THEN body -> 'properties' END AS properties
    ),
    fresh AS (SELECT * FROM written WHERE arrivals = 1),
    ${counted},
    merged AS (${mergeIdentifies(tables)})
    SELECT ${told},
      (SELECT json_agg(json_build_object('project', project, 'type', type, 'id', id))
        FROM written WHERE arrivals > 1) AS known,
      (SELECT json_agg(json_build_object('project', project, 'user_id', user_id, 'size', size))
        FROM merged WHERE size > ${LARGE_PROFILE}) AS large`;

  const adopt = `WITH ${turn},
    fresh AS (${insert} DO NOTHING RETURNING project, type),
    ${counted}
    SELECT ${told}, (SELECT count(*) FROM fresh)::integer AS added`;

  return {
    /** Stores records that came, each once so far. */
    store: async (records: readonly StoredRecord[]): Promise<Stored> => {
      const values = GIVEN.valuesOf(records);
      const [row] = await database.write<Stored>({ name: 'store', text: store, values });
      return row!;
    },
    /** Stores rows of another store as they are, and answers how many were not there. */
    adopt: async (records: readonly StoredRecord[]): Promise<number> => {
      const values = GIVEN.valuesOf(records);
      const [row] = await database.write<{ added: number }>({ name: 'adopt', text: adopt, values });
      return row?.added ?? 0;
    },
  };
};
