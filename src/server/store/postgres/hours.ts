import { DELAYS, MAX_PAIR_BYTES, MAX_PAIRS, PIECE, REST, SUMS } from '../hours.js';
import type { Hour, HourFilter, Hours } from '../port.js';
import { createSplit } from '../split.js';
import { storableText } from '../storable.js';
import { isoOut, type Tables } from './columns.js';
import type { PostgresDatabase } from './database.js';
import { literal, lockOf } from './schema.js';
import { createConditions } from './span.js';

const KEY = ['hour', 'project', 'channel', 'event'] as const;
const REST_TEXT = literal(REST);
const keyEquals = (a: string, b: string) =>
  KEY.map((name) => `${a}.${name} = ${b}.${name}`).join(' AND ');

/** A condition that finds the rows of one class of delay. */
const hasDelay = (index: number): string => {
  const seconds = (at: number) => `received_at - called_at > interval '${DELAYS[at]!.seconds} s'`;
  const isLast = DELAYS[index]!.seconds === Infinity;
  return [index > 0 && seconds(index - 1), !isLast && `NOT ${seconds(index)}`]
    .filter(Boolean)
    .join(' AND ');
};

/**
 * Adds up what `source` selects by hour, project, channel and event: rows with the columns of the table of records, and
 * `rows` and `repeats`, by which each of them counts.
 */
const namedOf = (source: string): string => {
  const nameOf = (name: string) => `CASE
    WHEN octet_length(channel) + octet_length(event) > ${MAX_PAIR_BYTES} THEN ${REST_TEXT}
    ELSE coalesce(${name}, '') END AS ${name}`;
  const delays = DELAYS.map(
    ({ name }, index) =>
      `coalesce(sum(rows) FILTER (WHERE ${hasDelay(index)}), 0)::integer AS ${name}`,
  );
  return `named AS MATERIALIZED (
    SELECT hour, project, channel, event, sum(rows)::integer AS rows,
      sum(repeats)::integer AS repeats, ${delays.join(', ')}
    FROM (
      SELECT date_trunc('hour', received_at, 'UTC') AS hour, project, ${nameOf('channel')},
        ${nameOf('event')}, rows, repeats, received_at, called_at
      FROM (${source}) AS source
    ) AS each GROUP BY hour, project, channel, event
  )`;
};

/** The older rows that are not in the sums yet. What another process has summed meanwhile is seen by the lock. */
export const unsummedOf = ({ summing }: Tables): string =>
  `unsummed AS MATERIALIZED (SELECT s.done, s.last FROM turn, ${summing} AS s FOR SHARE OF s)`;
/** A condition: a row is in the sums. */
export const IS_SUMMED = 'NOT EXISTS (SELECT 1 FROM unsummed WHERE seq > done AND seq <= last)';

/**
 * Parts of a statement that add what `source` selects to the sums, see `namedOf`. A new pair is summed under the rest if
 * the hour has as many pairs as it may have. Pairs that others add while this statement waits for its turn are not seen, so
 * an hour may get some more.
 */
export const addToHours = ({ hours }: Tables, source: string): string => `
  ${namedOf(source)},
  ranked AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY hour, project, is_known) AS n
    FROM (
      SELECT *, EXISTS (SELECT 1 FROM ${hours} AS h WHERE ${keyEquals('h', 'named')}) AS is_known
      FROM named
    ) AS all_named
  ),
  taken AS MATERIALIZED (
    SELECT hour, project, (SELECT count(*) FROM ${hours} AS h
      WHERE h.hour = r.hour AND h.project = r.project) AS pairs
    FROM ranked AS r WHERE NOT is_known GROUP BY hour, project
  ),
  placed AS (
    SELECT ranked.*, NOT is_known AND n + pairs > ${MAX_PAIRS} AS is_beyond
    FROM ranked LEFT JOIN taken USING (hour, project)
  ),
  summed AS (
    INSERT INTO ${hours} AS h (${[...KEY, ...SUMS].join(', ')})
    SELECT hour, project, CASE WHEN is_beyond THEN ${REST_TEXT} ELSE channel END,
      CASE WHEN is_beyond THEN ${REST_TEXT} ELSE event END,
      ${SUMS.map((name) => `sum(${name})`).join(', ')}
    FROM placed GROUP BY 1, 2, 3, 4
    ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET
      ${SUMS.map((name) => `${name} = h.${name} + excluded.${name}`).join(', ')}
  )`;

export const createHours = (database: PostgresDatabase, tables: Tables, schema: string) => {
  const { hours, records, summing } = tables;
  const lock = `SELECT ${lockOf(schema, 'rows')}`;
  const ofSameHour = `FROM ${hours} AS r WHERE r.hour = h.hour AND r.project = h.project`;

  return {
    /**
     * Deletes the pairs of these hours that have no rows any more. They stay as long as rows are under the rest: some of
     * them may be of such a pair. Two statements in one text are one transaction, and the second one sees all that was
     * stored before the lock was taken.
     */
    clean: async (times: readonly string[]): Promise<void> => {
      if (!times.length) return;
      await database.write({
        text: `${lock};
          DELETE FROM ${hours} AS h WHERE hour IN (${times.map(literal).join(', ')}) AND (
            (rows <= 0 AND NOT EXISTS (SELECT 1 ${ofSameHour}
              AND r.channel = ${REST_TEXT} AND r.event = ${REST_TEXT} AND r.rows > 0))
            OR (SELECT sum(r.rows) ${ofSameHour}) = 0)`,
      });
    },
    /** Reads the sums of all that matches, one for each hour that has rows. */
    read: async (filter: HourFilter): Promise<Hours> => {
      const { from, to, project, channel, event = [] } = filter;
      const conditions = createConditions();
      const { value, values, add } = conditions;
      add(`hour >= ${value(from)} AND hour < ${value(to)}`);
      if (project !== undefined) add(`project = ${value(storableText(project))}`);
      if (channel !== undefined) add(`channel = ${value(storableText(channel))}`);
      if (event.length) add(`event = ANY(${value(event.map(storableText))}::text[])`);
      const split = filter.split ? createSplit() : undefined;
      const lists = `, json_agg(ARRAY[channel, event])::text AS names, json_agg(rows)::text AS split`;
      const [all, [place]] = await Promise.all([
        database.read<Hour & { names: string; split: string }>({
          text: `SELECT ${isoOut('h.hour')} AS hour,
              ${SUMS.map((name) => `sum(${name})::float8 AS ${name}`).join(', ')} ${split ? lists : ''}
            FROM ${hours} AS h WHERE ${conditions.condition}
            GROUP BY h.hour HAVING sum(rows) > 0 ORDER BY h.hour`,
          values,
        }),
        database.read<{ whole_from: string }>({
          text: `SELECT ${isoOut('whole_from')} AS whole_from FROM ${summing}`,
        }),
      ]);
      const sums = all.map(({ names, split: rows, ...hour }) => {
        split?.add(names, rows);
        return hour;
      });
      return { hours: sums, ...(split && { events: split.all() }), ...place };
    },
    isWhole: async (): Promise<boolean> =>
      !(await database.read({ text: `SELECT 1 FROM ${summing}` })).length,
    /** Sums the next older rows, and returns whether there may be more. */
    sumPiece: async (): Promise<boolean> => {
      const piece = `piece AS MATERIALIZED (
        SELECT r.* FROM ${records} AS r, ${summing} AS s WHERE r.seq > s.done AND r.seq <= s.last
        ORDER BY r.seq LIMIT ${PIECE}
      )`;
      const source = `SELECT project, channel, event, called_at, received_at, 1 AS rows,
        arrivals - 1 AS repeats FROM piece`;
      const isLast = `(SELECT count(*) FROM piece) < ${PIECE}`;
      await database.write({
        text: `${lock}; WITH ${piece}, ${addToHours(tables, source)},
          gone AS (DELETE FROM ${summing} WHERE ${isLast})
          UPDATE ${summing} SET done = (SELECT max(seq) FROM piece) WHERE NOT ${isLast}`,
      });
      return (await database.read({ text: `SELECT 1 FROM ${summing}` })).length > 0;
    },
  };
};
