import { createValues, number, type Database, type Run } from './database.js';
import { DELAYS, MAX_PAIR_BYTES, MAX_PAIRS, REST, SUMS } from './hours.js';
import { isGiven } from './filter.js';
import type { Count, Hour, HourFilter, Hours, RowFilter } from './port.js';
import type { Prepared, Stretch } from './reader.js';
import { createSplit } from './split.js';
import { storableText } from './storable.js';

const KEY = ['hour', 'project', 'channel', 'event'] as const;
/** While as many rows are not summed yet, the sums are too low to be shown without a word. */
const MANY = 10_000;
const HOUR_MS = 3_600_000;
/** Hours that are read at a time where reading blocks the only thread. */
const STEP_MS = 120 * HOUR_MS;

/** The pairs of an hour and their rows, as JSON; see `createSplit`. */
interface Lists {
  names?: string;
  lists?: string;
}

const NO_ROWS: Omit<Hour, 'hour' | 'repeats'> & Lists = {
  ...{ rows: 0, in_2s: 0, in_1m: 0, in_1h: 0, later: 0, from_server: 0 },
};

/** Counts rows by project and type, and by hour, project, channel and event. */
export const createSums = (database: Database) => {
  const { table, texts, time, ms, hour, isoHour, pairs, numbers, read, blocks } = database;
  const [records, counts] = [table('records'), table('row_counts')];
  const [sums, repeats] = [table('hour_sums'), table('repeats')];

  const bytesOf = (name: string) => `octet_length(coalesce(${name}, ''))`;
  const isLong = `${bytesOf('channel')} + ${bytesOf('event')} > ${MAX_PAIR_BYTES}`;
  const nameOf = (name: string) =>
    `CASE WHEN ${isLong} THEN '${REST}' ELSE coalesce(${name}, '') END AS ${name}`;
  const hasDelay = (index: number): string =>
    [
      index > 0 && `delay > ${DELAYS[index - 1]!.ms}`,
      DELAYS[index]!.ms < Infinity && `delay <= ${DELAYS[index]!.ms}`,
      'from_server IS NOT TRUE',
    ]
      .filter(Boolean)
      .join(' AND ');
  const same = (a: string, b: string) =>
    KEY.map((name) => `${a}.${name} = ${b}.${name}`).join(' AND ');

  const addCounts = (condition: string, sign: 1 | -1) => `
    INSERT INTO ${counts} (project, type, rows)
    SELECT project, type, ${sign} * count(*) FROM ${records} WHERE ${condition} GROUP BY project, type
    ON CONFLICT (project, type) DO UPDATE SET rows = row_counts.rows + excluded.rows`;
  /** A new pair is summed under the rest if the hour has as many pairs as it may have. */
  const addHours = (condition: string, sign: 1 | -1) => `
    WITH named AS MATERIALIZED (
      SELECT hour, project, channel, event, ${sign} * count(*) AS rows,
        ${DELAYS.map(({ name }, index) => `${sign} * count(CASE WHEN ${hasDelay(index)} THEN 1 END) AS ${name}`).join(', ')},
        ${sign} * count(CASE WHEN from_server THEN 1 END) AS from_server
      FROM (
        SELECT ${hour('received_at')} AS hour, project, ${nameOf('channel')}, ${nameOf('event')}, from_server,
          ${ms('received_at')} - ${ms('called_at')} AS delay
        FROM ${records} WHERE ${condition}
      ) AS one GROUP BY hour, project, channel, event
    ),
    new AS MATERIALIZED (
      SELECT n.*, row_number() OVER (PARTITION BY hour, project ORDER BY channel, event)
          + (SELECT count(*) FROM ${sums} AS h WHERE h.hour = n.hour AND h.project = n.project) AS pairs
      FROM named AS n WHERE NOT EXISTS (SELECT 1 FROM ${sums} AS h WHERE ${same('h', 'n')})
    ),
    placed AS (
      SELECT named.*, CASE WHEN pairs > ${MAX_PAIRS} THEN 1 ELSE 0 END AS is_beyond
      FROM named LEFT JOIN new USING (${KEY.join(', ')})
    )
    INSERT INTO ${sums} (${[...KEY, ...SUMS].join(', ')})
    SELECT placed.hour, placed.project,
      CASE is_beyond WHEN 1 THEN '${REST}' ELSE placed.channel END,
      CASE is_beyond WHEN 1 THEN '${REST}' ELSE placed.event END,
      ${SUMS.map((name) => `sum(placed.${name})`).join(', ')}
    FROM placed WHERE TRUE GROUP BY 1, 2, 3, 4
    ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET
      ${SUMS.map((name) => `${name} = hour_sums.${name} + excluded.${name}`).join(', ')}`;
  const BEHIND = 'seq > $1 AND seq <= $2';
  /** Rows of a list that are summed already. */
  const LISTED = `seq IN (SELECT CAST(value AS bigint) FROM ${texts('$1')}) AND seq <= $2`;
  // A pair stays as long as rows are under the rest: some of them may be of this pair, if it could come anew.
  const clean = `
    DELETE FROM ${sums} WHERE rows = 0
      AND (hour, project) IN (SELECT ${hour('received_at')}, project FROM ${records} WHERE ${LISTED})
      AND NOT EXISTS (SELECT 1 FROM ${sums} AS h WHERE h.hour = hour_sums.hour
        AND h.project = hour_sums.project AND h.channel = '${REST}' AND h.event = '${REST}' AND h.rows > 0)`;

  // The order makes Postgres use the index of places. Without statistics, as after an import, it would read the whole table.
  const lookBehind = `SELECT 1 FROM ${records}
    WHERE seq > (SELECT place FROM ${table('readers')} WHERE name = 'sums')
    ORDER BY seq LIMIT 1 OFFSET ${MANY}`;
  const isBehind = async (): Promise<boolean> => (await read(lookBehind)).length > 0;
  /** Hours that are read at a time. */
  async function* spansOf({ from, to }: Pick<HourFilter, 'from' | 'to'>) {
    const [start, end] = [Date.parse(from), Date.parse(to)];
    for (let at = start; at < end; at += blocks ? STEP_MS : end - start) {
      yield [at, blocks ? Math.min(at + STEP_MS, end) : end].map((ms) =>
        new Date(ms).toISOString(),
      );
      if (blocks) await new Promise(setImmediate);
    }
  }
  /** The sums and the repeats of some hours, in their order. */
  const readHours = async (filter: HourFilter): Promise<Hours> => {
    const { project, channel, event = [] } = filter;
    const split = filter.split ? createSplit() : undefined;
    const lists = `, ${pairs('channel', 'event')} AS names, ${numbers('rows')} AS lists`;
    const between = `hour >= ${hour(time('$1'))} AND hour < ${hour(time('$2'))}
      ${project === undefined ? '' : 'AND project = $3'}`;
    const values = project === undefined ? [] : [storableText(project)];
    const more = createValues([0, 0, ...values]);
    const conditions = [
      between,
      channel !== undefined && `channel = ${more.value(storableText(channel))}`,
      event.length &&
        `event IN (SELECT value FROM ${texts(more.value(JSON.stringify(event.map(storableText))))})`,
    ].filter(Boolean);
    const lookForRows = `SELECT ${isoHour('hour_sums.hour')} AS hour,
        ${SUMS.map((name) => number(`sum(${name})`, name)).join(', ')} ${split ? lists : ''}
      FROM ${sums} WHERE ${conditions.join(' AND ')}
      GROUP BY hour_sums.hour HAVING sum(rows) > 0`;
    const lookForRepeats = `SELECT ${isoHour('repeats.hour')} AS hour, ${number('sum(n)', 'repeats')}
      FROM ${repeats} WHERE ${between} GROUP BY repeats.hour`;

    const hours: Hour[] = [];
    for await (const span of spansOf(filter)) {
      const [found, again] = await Promise.all([
        read<Omit<Hour, 'repeats'> & Lists>(lookForRows, ...span, ...more.values.slice(2)),
        read<Pick<Hour, 'hour' | 'repeats'>>(lookForRepeats, ...span, ...values),
      ]);
      const rowsOf = new Map(found.map((one) => [one.hour, one]));
      const repeatsOf = new Map(again.map((one) => [one.hour, one.repeats]));
      for (const name of [...new Set([...rowsOf.keys(), ...repeatsOf.keys()])].sort()) {
        const { names = '[]', lists: rows = '[]', ...one } = rowsOf.get(name) ?? NO_ROWS;
        split?.add(names, rows);
        hours.push({ ...one, hour: name, repeats: repeatsOf.get(name) ?? 0 });
      }
    }
    return {
      ...{ hours, ...(split && { events: split.all() }) },
      ...((await isBehind()) && { is_behind: true }),
    };
  };

  const lookAtReader = `SELECT ${number('place')}, ${number('number')} FROM ${table('readers')} WHERE name = 'sums'`;
  const ends = `SELECT ${isoHour('min(hour)')} AS first, ${isoHour('max(hour)')} AS last FROM ${sums}`;
  /** How many summed rows fit, by hour, or undefined if the sums cannot tell exactly. */
  const exactly = async (filter: RowFilter): Promise<Pick<Hour, 'hour' | 'rows'>[] | undefined> => {
    const { project, from, to, channel, event, not, type, ...others } = filter;
    const isWhole = [from, to].every((time) => !time || time.endsWith(':00:00.000Z'));
    if (isGiven(others) || !isWhole || (await isBehind())) return undefined;
    const { values, value } = createValues([0, 0]);
    const list = (names: readonly string[]) =>
      `(SELECT value FROM ${texts(value(JSON.stringify(names.map(storableText))))})`;
    const isIdentify = `channel = '' AND event = ''`;
    const conditions = [
      channel !== undefined && `channel = ${value(storableText(channel))}`,
      event?.length && `event IN ${list(event)}`,
      not?.length && `event NOT IN ${list(not)}`,
      type && (type === 'identify' ? isIdentify : `NOT (${isIdentify})`),
    ].filter(Boolean);
    const sumOf = (condition: string) => `sum(CASE WHEN ${condition} THEN rows ELSE 0 END)`;
    const look = `SELECT ${isoHour('hour_sums.hour')} AS hour,
        ${number(sumOf(conditions.join(' AND ') || 'TRUE'), 'fitting')},
        ${number(sumOf(`channel = '${REST}' AND event = '${REST}'`), 'rest')}
      FROM ${sums} WHERE hour >= ${hour(time('$1'))} AND hour < ${hour(time('$2'))}
        ${project === undefined ? '' : `AND project = ${value(storableText(project))}`}
      GROUP BY hour_sums.hour ORDER BY hour_sums.hour`;
    const [{ first, last }] = (await read(ends)) as [{ first: string | null; last: string | null }];
    if (first === null || last === null) return [];
    const behind = new Date(Date.parse(last) + HOUR_MS).toISOString();
    const within = {
      from: from !== undefined && from > first ? from : first,
      to: to !== undefined && to < behind ? to : behind,
    };
    const hours: Pick<Hour, 'hour' | 'rows'>[] = [];
    for await (const span of spansOf(within)) {
      type Found = { hour: string; fitting: number; rest: number };
      for (const one of await read<Found>(look, ...span, ...values.slice(2))) {
        if (conditions.length && one.rest) return undefined;
        if (one.fitting) hours.push({ hour: one.hour, rows: one.fitting });
      }
    }
    return hours;
  };

  return {
    /** Sums are made by the database itself. */
    prepare: async (_: Run, { place, upto }: Stretch): Promise<Prepared> => ({
      upto,
      refused: [],
      apply: async (run) => {
        await run(addCounts(BEHIND, 1), place, upto);
        await run(addHours(BEHIND, 1), place, upto);
      },
    }),
    /** Takes rows off the sums that are to be deleted, up to the place of the reader. */
    takeOff: async (run: Run, places: readonly number[], place: number): Promise<void> => {
      const list = JSON.stringify(places);
      await run(addCounts(LISTED, -1), list, place);
      await run(addHours(LISTED, -1), list, place);
      await run(clean, list, place);
    },
    counts: (): Promise<Count[]> =>
      read(
        `SELECT project, type, ${number('rows')} FROM ${counts} WHERE rows > 0 ORDER BY project, type`,
      ),
    hours: readHours,
    exactly,
    /** Up to which place rows are summed. The number is another one when this or the sums have changed. */
    reached: async (): Promise<{ place: number; number: number }> =>
      (await read<{ place: number; number: number }>(lookAtReader))[0]!,
    /** Deletes what was counted of repeats before this time. */
    expireRepeats: (before: string) =>
      database.write(`DELETE FROM ${repeats} WHERE hour < ${hour(time('$1'))}`, before),
  };
};

export type Sums = ReturnType<typeof createSums>;
