import { messageOf } from '../../../util/errors.js';
import { LARGE_PROFILE } from '../../profile-limit.js';
import {
  columnsOf,
  rowKeyOf,
  userOf,
  type Arrived,
  type RecordKey,
  type Stored,
} from '../write-records.js';
import { unnest, type Tables } from './columns.js';
import { sqlStateOf, type PostgresDatabase, type Statement } from './database.js';
import { addToHours, IS_SUMMED, unsummedOf } from './hours.js';
import { mergeIdentifies } from './profiles.js';
import { lockOf } from './schema.js';

/** The code that Postgres has answered. It is in the cause of an error of the database. */
const stateIn = (error: unknown): string => sqlStateOf((error as Error).cause) ?? '';

/**
 * The words of Postgres, if it refuses the data, and not the connection or the statement: a wrong value, a constraint,
 * a limit, or an error of a trigger. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export const wordsOfRefusal = (error: unknown): string | undefined =>
  /^(22|23|44|54|P0)/.test(stateIn(error)) ? messageOf((error as Error).cause) : undefined;
/** Whether a statement ran for too long. (If it only waited for a lock, the code is 55P03.) */
export const isLate = (error: unknown): boolean => stateIn(error) === '57014';
/** Whether Postgres ended this transaction in favour of another one. It is worth a second try. */
const isOfTurn = (error: unknown): boolean => /^40(001|P01)$/.test(stateIn(error));
const TRIES = 3;

/** The answer of the statement that stores. */
interface Answer {
  /** Records that were stored already. */
  known: readonly RecordKey[] | null;
  /** Large profiles that were merged into. */
  large: readonly { project: string; user_id: string; size: number }[] | null;
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
  sender: 'text',
  notify: 'boolean',
});

/**
 * The statements that store rows. A batch is one statement, and so one transaction: the lock, the rows, their counts
 * and sums, and the profiles. No two of its rows may have the same key.
 */
export const createRowWriter = (database: PostgresDatabase, tables: Tables, schema: string) => {
  const insert = `
    INSERT INTO ${tables.records} AS r (project, type, id, channel, event, user_id, body,
      called_at, received_at, arrivals, client, sender, notify)
    SELECT project, type, id, channel, event, user_id, body::json,
      called_at, received_at, arrivals, client, sender, notify
    FROM turn, ${GIVEN.table} ORDER BY n
    ON CONFLICT (project, type, id)`;
  const turn = `turn AS MATERIALIZED (SELECT ${lockOf(schema, 'rows')})`;
  const counted = `counted AS (
      INSERT INTO ${tables.counts} AS c (project, type, rows)
      SELECT project, type, count(*) FROM fresh GROUP BY project, type
      ON CONFLICT (project, type) DO UPDATE SET rows = c.rows + excluded.rows
    )`;

  const each = `SELECT project, channel, event, called_at, received_at`;
  const store = `WITH ${turn}, ${unsummedOf(tables)},
    written AS (${insert} DO UPDATE SET arrivals = r.arrivals + 1
      RETURNING seq, project, type, id, channel, event, user_id, called_at, received_at, arrivals,
        CASE WHEN type = 'identify' THEN body -> 'properties' END AS properties
    ),
    fresh AS (SELECT * FROM written WHERE arrivals = 1),
    ${counted},
    ${addToHours(
      tables,
      `${each}, (arrivals = 1)::integer AS rows, (arrivals > 1)::integer AS repeats
      FROM written WHERE ${IS_SUMMED}`,
    )},
    merged AS (${mergeIdentifies(tables)})
    SELECT
      (SELECT json_agg(json_build_object('project', project, 'type', type, 'id', id))
        FROM written WHERE arrivals > 1) AS known,
      (SELECT json_agg(json_build_object('project', project, 'user_id', user_id, 'size', size))
        FROM merged WHERE size > ${LARGE_PROFILE}) AS large`;

  const adopt = (more = '') => `WITH ${turn},
    fresh AS (${insert} DO NOTHING RETURNING *,
      CASE WHEN type = 'identify' THEN body -> 'properties' END AS properties),
    ${counted},
    ${addToHours(tables, `${each}, 1 AS rows, arrivals - 1 AS repeats FROM fresh`)}
    ${more}
    SELECT (SELECT count(*) FROM fresh)::integer AS added`;
  const adoptOnly = { name: 'adopt', text: adopt() };
  const adoptAndMerge = {
    name: 'adopt and merge',
    text: adopt(`, merged AS (${mergeIdentifies(tables)})`),
  };

  const tryWrite = async <Row>(statement: Statement, tries = TRIES): Promise<Row> => {
    try {
      const [row] = await database.write<Row>(statement);
      return row!;
    } catch (error) {
      if (tries > 1 && isOfTurn(error)) return tryWrite(statement, tries - 1);
      throw error;
    }
  };

  return {
    /** Stores records that have arrived, each once. */
    store: async (records: readonly Arrived[]): Promise<Stored> => {
      const values = GIVEN.valuesOf(records.map(columnsOf));
      const { known, large } = await tryWrite<Answer>({ name: 'store', text: store, values });
      return {
        known: new Set(known?.map(rowKeyOf)),
        large: new Map(large?.map((one) => [userOf(one), one.size])),
      };
    },
    /**
     * Stores rows of another store as they are, and returns how many were new. Merges the new identifies only if it is
     * asked to.
     */
    adopt: async (records: readonly Arrived[], mergesIdentifies: boolean): Promise<number> => {
      const values = GIVEN.valuesOf(records.map(columnsOf));
      const statement = mergesIdentifies ? adoptAndMerge : adoptOnly;
      const { added } = await tryWrite<{ added: number }>({ ...statement, values });
      return added;
    },
  };
};
