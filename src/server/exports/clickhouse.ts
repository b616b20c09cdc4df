import type { Erasure, PlaceSpan } from '../store/progress.js';
import { monotonicNow, sleep } from '../time.js';
import { createFill, RowRefusedError, type Line } from './batches.js';
import { readClickhouseAddress } from './clickhouse-address.js';
import {
  ClickhouseError,
  createAsk,
  quotedName,
  textValue,
  type Ask,
} from './clickhouse-client.js';
import { insertInto, lineOf, prepareTable, type ClickhouseSettings } from './clickhouse-table.js';
import type { Target, Turn } from './target.js';

/** An insert of this size becomes one part, which is written as a whole or not at all. */
const [MAX_ROWS, MAX_CHARACTERS] = [20_000, 8 * 1_048_576];
/** Each insert makes a part, and ClickHouse wants few of them. */
const WAIT_MS = 2_000;
/** How long to wait for the end of inserts that may still run, how often to look, and what to say if they do not end. */
const INSERTS = { withinMs: 60_000, everyMs: 200, late: 'an earlier insert still runs there' };
/** The same for deletions. They rewrite parts, which may take long. */
const DELETIONS = { withinMs: 3_600_000, everyMs: 1_000, late: 'the deletion does not end' };
/** Of several replicas, the one that is asked has to know what was inserted into another one. */
const CONSISTENT = { select_sequential_consistency: 1 };
/** Bytes of a statement. Erasures name users, whose names may be long. */
const MAX_QUERY = 64 * 1_048_576;

/** Errors that a value of a row can cause. Any other is trouble of the server or of the table. */
const OF_A_ROW: ReadonlySet<number> = new Set([
  // CANNOT_PARSE…, INCORRECT_DATA, TYPE_MISMATCH, CANNOT_CONVERT_TYPE, VIOLATED_CONSTRAINT, and sizes and ranges
  ...[6, 25, 26, 27, 38, 41, 72, 117, 53, 70, 469, 69, 128, 131, 321],
]);

/** Asks for rows of numbers. */
const readNumbers = async (ask: Ask, statement: string): Promise<number[][]> =>
  (await ask(statement, { settings: CONSISTENT })).map((line) => line.split('\t').map(Number));

/** Waits until a count is 0. */
const untilNone = async (
  ask: Ask,
  count: string,
  { withinMs, everyMs, late }: typeof INSERTS,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const until = monotonicNow() + withinMs;
  while ((await readNumbers(ask, count))[0]![0]) {
    if (monotonicNow() > until) throw new Error(late);
    await sleep(everyMs, signal);
  }
};

/** The rows that were erased, as a condition. */
const conditionOf = ({ upto, project, user_id, channel, event, from, to }: Erasure): string => {
  const equal = Object.entries({ project, user_id, channel, event }).flatMap(([column, value]) =>
    value === undefined ? [] : [`${column} = ${textValue(value)}`],
  );
  return `(${[
    ...(Number.isFinite(upto) ? [`seq < ${upto}`] : []),
    ...equal,
    ...(from === undefined ? [] : [`received_at_ms >= ${Date.parse(from)}`]),
    ...(to === undefined ? [] : [`received_at_ms < ${Date.parse(to)}`]),
  ].join(' AND ')})`;
};

/** Fills a table of a ClickHouse. */
export const createClickhouseTarget = (address: string): Target => {
  const place = readClickhouseAddress(address);
  const { database, name, cell } = place;
  const table = quotedName(place.table);
  const ask = createAsk(place);
  const askUntil =
    (signal: AbortSignal | undefined): Ask =>
    (statement, options) =>
      ask(statement, { signal, ...options });
  const ofSource = (source: string) => `source = ${textValue(source)}`;
  const ofSpan = (source: string, { from, to }: PlaceSpan) =>
    `${ofSource(source)} AND seq >= ${from} AND seq < ${to}`;
  let settings: ClickhouseSettings = {};

  const insert = async (lines: readonly Line[], turn: Turn): Promise<void> => {
    const [first, last] = [lines[0]!, lines.at(-1)!];
    const exported_at = Math.floor(Date.now() / 1_000);
    const ofAll = JSON.stringify({ source: turn.source, cell, exported_at });
    const rest = `,${ofAll.slice(1)}\n`;
    try {
      await ask(insertInto(place.table), {
        rows: lines.map(({ text }) => text.slice(0, -1) + rest).join(''),
        // By this name `last` finds the insert if it still runs. Two processes never have the same name.
        queryId: `${turn.source}.${first.place}.${last.place}.${turn.number}`,
        ...{ settings, signal: turn.signal },
      });
    } catch (error) {
      if (error instanceof ClickhouseError && OF_A_ROW.has(error.code))
        throw new RowRefusedError(error.message, { cause: error });
      throw error;
    }
  };

  return {
    name,
    wait: { ms: WAIT_MS, rows: MAX_ROWS },
    prepare: async (signal) => {
      settings = await prepareTable(askUntil(signal), place);
    },
    last: async (source, signal) => {
      const ask = askUntil(signal);
      const isOurs = `startsWith(query_id, ${textValue(`${source}.`)})`;
      // Inserts of a process that was killed or gave up. Without the right to end them, they end by themselves.
      await ask(`KILL QUERY WHERE ${isOurs} SYNC`).catch(() => {});
      const running = `SELECT count() FROM system.processes WHERE ${isOurs}`;
      await untilNone(ask, running, INSERTS, signal);
      const [line = ''] = await ask(
        `SELECT count(), min(seq), max(seq), hex(argMax(id, seq)) FROM ${table}
        WHERE ${ofSource(source)}`,
        { settings: CONSISTENT },
      );
      const [count, first, place, id = ''] = line.split('\t');
      return Number(count)
        ? {
            ...{ first: Number(first), place: Number(place) },
            id: Buffer.from(id, 'hex').toString('utf8'),
          }
        : undefined;
    },
    fill: createFill({ maxRows: MAX_ROWS, maxCharacters: MAX_CHARACTERS, lineOf, insert }),
    erase: async (source, erasures, signal) => {
      const ask = askUntil(signal);
      const deletions = `SELECT count() FROM system.mutations
        WHERE database = ${textValue(database)} AND table = ${textValue(place.table)} AND is_done = 0`;
      const found = erasures.map(conditionOf).join(' OR ');
      const former = source.former.map(textValue).join(', ');
      const ofFormer = erasures.map((one) => conditionOf({ ...one, upto: Infinity })).join(' OR ');
      // A deletion goes on there when nobody waits for it here any more. Another one beside it would only cost more.
      await untilNone(ask, deletions, DELETIONS, signal);
      await ask(
        `ALTER TABLE ${table} DELETE WHERE (${ofSource(source.id)} AND (${found}))
        ${former && `OR (source IN (${former}) AND (${ofFormer}))`}`,
        { settings: { max_query_size: MAX_QUERY } },
      );
      await untilNone(ask, deletions, DELETIONS, signal);
      return undefined;
    },
    sumPlaces: async (source, { block, ...span }) => {
      const rows = await readNumbers(
        ask,
        `SELECT intDiv(seq, ${block}) * ${block} AS first, count(), sum(seq) FROM ${table}
        WHERE ${ofSpan(source, span)} GROUP BY first`,
      );
      return new Map(
        rows.map(([first, rows, places]) => [first!, { rows: rows!, places: places! }]),
      );
    },
    places: async (source, span) => {
      const statement = `SELECT seq FROM ${table} WHERE ${ofSpan(source, span)}`;
      return (await readNumbers(ask, statement)).map(([place]) => place!);
    },
  };
};
