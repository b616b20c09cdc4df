import type { ErasureParts } from '../erasures.js';
import { namesUser } from '../names-user.js';
import type { Store } from '../port.js';
import { isoOut, type Tables } from './columns.js';
import type { PostgresDatabase } from './database.js';
import { addToHours, IS_SUMMED, unsummedOf, type createHours } from './hours.js';
import { lockOf } from './schema.js';

/** Deletes under the lock of the writes, so that neither waits for single rows of the other. */
export const createRemovers = (
  database: PostgresDatabase,
  tables: Tables,
  schema: string,
  cleanHours: ReturnType<typeof createHours>['clean'],
): Pick<Store, 'expire' | 'expireRefused' | 'expireProfiles' | 'clear'> &
  Pick<ErasureParts, 'remove' | 'removeRefused'> => {
  const { records, counts, profiles, refused, targetDead, parked } = tables;
  const turn = `turn AS MATERIALIZED (SELECT ${lockOf(schema, 'rows')})`;

  /** Deletes rows that meet a condition. */
  const removeRows = async (condition: string, values: unknown[]): Promise<number> => {
    const [row] = await database.write<{ removed: number; hours: string[] | null }>({
      text: `WITH ${turn}, ${unsummedOf(tables)},
        gone AS (
          DELETE FROM ${records} WHERE ${condition} AND EXISTS (SELECT 1 FROM turn) RETURNING *
        ),
        -- Why a target has refused a row may quote the row.
        reasons AS (
          DELETE FROM ${targetDead} USING gone WHERE place = gone.seq
        ),
        unparked AS (
          DELETE FROM ${parked} USING gone WHERE place = gone.seq
        ),
        counted AS (
          UPDATE ${counts} AS c SET rows = c.rows - removed FROM (
            SELECT project, type, count(*) AS removed FROM gone GROUP BY project, type
          ) AS sums WHERE c.project = sums.project AND c.type = sums.type
        ),
        ${addToHours(
          tables,
          `SELECT project, channel, event, called_at, received_at, -1 AS rows, 1 - arrivals AS repeats
          FROM gone WHERE ${IS_SUMMED}`,
        )}
        SELECT (SELECT count(*)::integer FROM gone) AS removed,
          (SELECT json_agg(DISTINCT ${isoOut('hour')}) FROM named) AS hours`,
      values,
    });
    await cleanHours(row!.hours ?? []);
    return row!.removed;
  };

  const removeRefused = async (project: string, userId: string): Promise<void> => {
    // The record of a dead one is JSON as we write it. The other bodies are as strangers sent them.
    await database.write({
      text: `DELETE FROM ${refused} WHERE (project = $1 OR project IS NULL)
        AND (user_id = $2 OR strpos(record, $3) > 0)`,
      values: [project, userId, JSON.stringify(userId)],
    });
    const bodies = await database.read<{ seq: string; body: string }>({
      text: `SELECT seq, body FROM ${refused} WHERE (project = $1 OR project IS NULL)
        AND record IS NULL AND body IS NOT NULL`,
      values: [project],
    });
    const seqs = bodies.flatMap(({ seq, body }) => (namesUser(body, userId) ? [seq] : []));
    await database.write({
      text: `DELETE FROM ${refused} WHERE seq = ANY($1::bigint[])`,
      values: [seqs],
    });
  };

  /** How far `expireProfiles` has looked. */
  let seen = ['', ''];
  /**
   * Looks at the next `limit` profiles. Few are old at a time, so this does without an index, which each identify would
   * have to keep up to date.
   */
  const expireProfiles = async (before: string, limit: number): Promise<number> => {
    const [row] = await database.write<{ removed: number; last: string[] | null }>({
      text: `WITH ${turn},
        page AS (
          SELECT project, user_id FROM ${profiles} WHERE (project, user_id) > ($3, $4)
          ORDER BY project, user_id LIMIT $2::integer
        ),
        gone AS (
          DELETE FROM ${profiles} AS p USING page
          WHERE p.project = page.project AND p.user_id = page.user_id
            AND p.updated_at < $1::timestamptz AND EXISTS (SELECT 1 FROM turn)
          RETURNING 1
        )
        SELECT (SELECT count(*)::integer FROM gone) AS removed,
          (SELECT ARRAY[project, user_id] FROM page ORDER BY project, user_id
            OFFSET $2::integer - 1) AS last`,
      values: [before, limit, ...seen],
    });
    seen = row!.last ?? ['', ''];
    return row!.removed;
  };

  return {
    remove: (places) => removeRows('seq = ANY($1::bigint[])', [places]),
    removeRefused,
    expire: async (before, limit, upto = Number.MAX_SAFE_INTEGER) => {
      const rows = `seq IN (SELECT seq FROM ${records} WHERE received_at < $2::timestamptz
        AND seq < $3::bigint ORDER BY received_at LIMIT $1::integer)`;
      return removeRows(rows, [limit, before, upto]);
    },
    expireRefused: async (before) => {
      await database.write({
        text: `DELETE FROM ${refused} WHERE received_at < $1::timestamptz`,
        values: [before],
      });
    },
    expireProfiles,
    clear: async () => {
      // TRUNCATE keeps the sequence, so no place is given twice.
      await database.write({ text: `TRUNCATE ${Object.values(tables).join(', ')}` });
    },
  };
};
