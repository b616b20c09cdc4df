import type Database from 'libsql';
import { DELAYS, MAX_PAIR_BYTES, MAX_PAIRS, PIECE, REST, SUMS } from '../hours.js';
import type { Hour, HourFilter, Hours } from '../port.js';
import { createSplit } from '../split.js';
import { storableText } from '../storable.js';
import type { Columns } from '../write-records.js';
import type { Writer } from './connections.js';

/** What is summed of a row. */
export type SummedRow = {
  [Name in 'project' | 'called_at' | 'received_at']: Columns[Name];
} & { channel?: string | null | undefined; event?: string | null | undefined };

/** A row of the table: the four columns of the key and the sums, in their order. */
type Sum = [hour: string, project: string, channel: string, event: string, ...sums: number[]];

/** Adds up rows and repeats by hour, project, channel and event. */
const createSums = () => {
  const sums = new Map<string, Sum>();
  return {
    add: (row: SummedRow, rows: number, repeats: number): void => {
      const { project, called_at, received_at } = row;
      let [channel, event] = [row.channel ?? '', row.event ?? ''];
      if (Buffer.byteLength(channel) + Buffer.byteLength(event) > MAX_PAIR_BYTES)
        channel = event = REST;
      const hour = received_at.slice(0, 13);
      // With the lengths no two keys have the same name.
      const name = `${hour} ${project.length} ${channel.length} ${project}${channel}${event}`;
      let sum = sums.get(name);
      if (!sum) sums.set(name, (sum = [hour, project, channel, event, ...SUMS.map(() => 0)]));
      const count = (column: (typeof SUMS)[number], by: number): void => {
        (sum[4 + SUMS.indexOf(column)] as number) += by;
      };
      count('rows', rows);
      count('repeats', repeats);
      if (!rows) return;
      const delay = (Date.parse(received_at) - Date.parse(called_at)) / 1_000;
      count(DELAYS.find(({ seconds }) => !(delay > seconds))!.name, rows);
    },
    isEmpty: (): boolean => !sums.size,
    json: (): string => JSON.stringify([...sums.values()]),
  };
};
export type HourSums = ReturnType<typeof createSums>;

const KEY = ['hour', 'project', 'channel', 'event'] as const;
const keyEquals = (a: string, b: string) =>
  KEY.map((name) => `${a}.${name} = ${b}.${name}`).join(' AND ');
/** The functions that keep the sums by hour of arrival. They have to be called inside a transaction. */
export const createHourWriter = ({ prepare }: Writer) => {
  // A new pair is summed under the rest if the hour has as many pairs as it may have.
  const add = prepare(`
    WITH given AS MATERIALIZED (
      SELECT ${[...KEY, ...SUMS].map((name, index) => `value->>${index} AS ${name}`).join(', ')}
      FROM json_each(?)
    ),
    unknown AS MATERIALIZED (
      SELECT ${KEY.join(', ')}, row_number() OVER (PARTITION BY hour, project) AS n FROM given
      WHERE NOT EXISTS (SELECT 1 FROM hours AS h WHERE ${keyEquals('h', 'given')})
    ),
    taken AS MATERIALIZED (
      SELECT hour, project, (SELECT count(*) FROM hours AS h
        WHERE h.hour = unknown.hour AND h.project = unknown.project) AS pairs
      FROM unknown GROUP BY hour, project
    ),
    beyond AS MATERIALIZED (
      SELECT ${KEY.join(', ')}, n FROM unknown JOIN taken USING (hour, project)
      WHERE n + pairs > ${MAX_PAIRS}
    )
    INSERT INTO hours (${[...KEY, ...SUMS].join(', ')})
    SELECT hour, project, iif(n IS NULL, channel, '${REST}'), iif(n IS NULL, event, '${REST}'),
      ${SUMS.join(', ')}
    FROM given LEFT JOIN beyond USING (${KEY.join(', ')}) WHERE TRUE
    ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET
      ${SUMS.map((name) => `${name} = hours.${name} + excluded.${name}`).join(', ')}`);
  // A pair stays as long as rows are under the rest: some of them may be of this pair, if it could come anew.
  const clean = prepare(`
    DELETE FROM hours WHERE rows <= 0
      AND (hour, project) IN (SELECT value->>0, value->>1 FROM json_each(?))
      AND NOT EXISTS (SELECT 1 FROM hours AS h WHERE h.hour = hours.hour
        AND h.project = hours.project AND h.channel = '${REST}' AND h.event = '${REST}' AND h.rows > 0)`);
  const unsummed = prepare('SELECT done, last FROM summing');
  const older = prepare(`
    SELECT seq, project, channel, event, called_at, received_at, arrivals FROM records
    WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${PIECE}`);
  const setDone = prepare('UPDATE summing SET done = ?');
  const setWhole = prepare('DELETE FROM summing');

  const addSums = async (sums: HourSums): Promise<void> => {
    if (!sums.isEmpty()) await add(sums.json());
  };

  let isWhole = false;
  const readUnsummed = async (): Promise<{ done: number; last: number } | undefined> => {
    if (isWhole) return undefined;
    const [range] = await unsummed<{ done: number; last: number }>();
    isWhole = !range;
    return range;
  };

  return {
    createSums,
    /** A function that says whether the row of a place is in the sums. Older rows are summed later. */
    whichSummed: async (): Promise<(seq: number) => boolean> => {
      const range = await readUnsummed();
      return (seq) => !range || seq <= range.done || seq > range.last;
    },
    add: addSums,
    /** Adds sums that are negative: those of rows that were removed. */
    take: async (sums: HourSums): Promise<void> => {
      await addSums(sums);
      if (!sums.isEmpty()) await clean(sums.json());
    },
    /** Sums the next older rows, and returns whether there may be more. */
    sumPiece: async (): Promise<boolean> => {
      const range = await readUnsummed();
      if (!range) return false;
      const rows = await older<SummedRow & { seq: number; arrivals: number }>(
        range.done,
        range.last,
      );
      const sums = createSums();
      for (const row of rows) sums.add(row, 1, row.arrivals - 1);
      await addSums(sums);
      if (rows.length === PIECE) await setDone(rows.at(-1)!.seq);
      else await setWhole();
      return rows.length === PIECE;
    },
  };
};

export type HourWriter = ReturnType<typeof createHourWriter>;

/** Hours that are read at a time: SQLite blocks the only thread meanwhile. */
const STEP_MS = 120 * 3_600_000;

/** Reads the sums of all that matches, one for each hour that has rows. */
export const readHours = async (
  database: Database.Database,
  filter: HourFilter,
): Promise<Hours> => {
  const { from, to, project, channel, event = [] } = filter;
  const conditions: (readonly [sql: string, ...values: string[]])[] = [['hour >= ? AND hour < ?']];
  if (project !== undefined) conditions.push(['project = ?', storableText(project)]);
  if (channel !== undefined) conditions.push(['channel = ?', storableText(channel)]);
  if (event.length)
    conditions.push([`event IN (${event.map(() => '?').join(', ')})`, ...event.map(storableText)]);
  const split = filter.split ? createSplit() : undefined;
  const lists = `, json_group_array(channel || char(0) || event) AS names,
    '[' || group_concat(rows) || ']' AS split`;
  const look = database.prepare<unknown[]>(
    `SELECT hour || ':00:00.000Z' AS hour,
      ${SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ')} ${split ? lists : ''}
    FROM hours WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
    GROUP BY hours.hour HAVING sum(rows) > 0 ORDER BY hours.hour`,
  );
  const values = conditions.flatMap(([, ...given]) => given);
  const hours: Hour[] = [];
  for (let at = Date.parse(from); at < Date.parse(to); at += STEP_MS) {
    const end = Math.min(at + STEP_MS, Date.parse(to));
    const span = [at, end].map((ms) => new Date(ms).toISOString().slice(0, 13));
    for (const one of look.all(...span, ...values) as (Hour & Lists)[]) {
      const { names, split: rows, ...hour } = one;
      split?.add(names, rows);
      hours.push(hour);
    }
    await new Promise(setImmediate);
  }
  const [summing] = database.prepare('SELECT whole_from FROM summing').all() as {
    whole_from: string;
  }[];
  return { hours, ...(split && { events: split.all() }), ...summing };
};

/** The pairs of an hour and their rows, as JSON; see `createSplit`. */
interface Lists {
  names: string;
  split: string;
}
