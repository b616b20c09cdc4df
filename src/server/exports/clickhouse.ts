import type { Erasure } from '../store/progress.js';
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
/** How long to wait for the end of inserts that may still run, and how often to look. */
const INSERTS_END = { withinMs: 60_000, everyMs: 200 };
/** A deletion rewrites parts, which may take long. */
const DELETIONS_END = { withinMs: 3_600_000, everyMs: 1_000 };
/** Bytes of a statement. Erasures name users, whose names may be long. */
const MAX_QUERY = 64 * 1_048_576;

/** Errors that a value of a row can cause. Any other is trouble of the server or of the table. */
const OF_A_ROW: ReadonlySet<number> = new Set([
  // CANNOT_PARSE…, INCORRECT_DATA, TYPE_MISMATCH, CANNOT_CONVERT_TYPE, VIOLATED_CONSTRAINT, and sizes and ranges
  ...[6, 25, 26, 27, 38, 41, 72, 117, 53, 70, 469, 69, 128, 131, 321],
]);

/** Asks for rows of numbers. */
const readNumbers = async (ask: Ask, statement: string): Promise<number[][]> =>
  (await ask(statement)).map((line) => line.split('\t').map(Number));

/** Waits until a count is 0, and rejects with these words if that takes too long. */
const untilNone = async (
  ask: Ask,
  count: string,
  { withinMs, everyMs }: typeof INSERTS_END,
  words: string,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const until = monotonicNow() + withinMs;
  while ((await readNumbers(ask, count))[0]![0]) {
    if (monotonicNow() > until) throw new Error(words);
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
  const { database, table, name, cell } = place;
  const ask = createAsk(place);
  const until =
    (signal: AbortSignal | undefined): Ask =>
    (statement, options) =>
      ask(statement, { signal, ...options });
  const ofSource = (source: string) => `source = ${textValue(source)}`;
  let settings: ClickhouseSettings = {};

  const insert = async (lines: readonly Line[], turn: Turn): Promise<void> => {
    const [first, last] = [lines[0]!, lines.at(-1)!];
    const exported_at = Math.floor(Date.now() / 1_000);
    const ofAll = JSON.stringify({ source: turn.source, cell, exported_at });
    const rest = `,${ofAll.slice(1)}\n`;
    try {
      await ask(insertInto(table), {
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
      settings = await prepareTable(until(signal), place);
    },
    last: async (source, signal) => {
      const ask = until(signal);
      // Inserts of a process that was killed or gave up.
      const theirs = `startsWith(query_id, ${textValue(`${source}.`)})`;
      const running = `SELECT count() FROM system.processes WHERE ${theirs}`;
      // Without the right to end them, they end by themselves.
      await ask(`KILL QUERY WHERE ${theirs} SYNC`).catch(() => {});
      const words = 'an earlier insert still runs there';
      await untilNone(ask, running, INSERTS_END, words, signal);
      const [line = ''] = await ask(
        `SELECT count(), max(seq), hex(argMax(id, seq)) FROM ${quotedName(table)}
        WHERE ${ofSource(source)}`,
      );
      const [count, seq, id = ''] = line.split('\t');
      return Number(count)
        ? { place: Number(seq), id: Buffer.from(id, 'hex').toString('utf8') }
        : undefined;
    },
    fill: createFill({ maxRows: MAX_ROWS, maxCharacters: MAX_CHARACTERS, lineOf, insert }),
    erase: async (source, erasures, signal) => {
      const ask = until(signal);
      const deletions = `SELECT count() FROM system.mutations
        WHERE database = ${textValue(database)} AND table = ${textValue(table)} AND is_done = 0`;
      const ended = () =>
        untilNone(ask, deletions, DELETIONS_END, 'the deletion does not end', signal);
      const found = erasures.map(conditionOf).join(' OR ');
      const former = source.former.map(textValue).join(', ');
      const ofFormer = erasures.map((one) => conditionOf({ ...one, upto: Infinity })).join(' OR ');
      // One that was begun before, and broken off here, goes on there.
      await ended();
      await ask(
        `ALTER TABLE ${quotedName(table)} DELETE WHERE (${ofSource(source.id)} AND (${found}))
        ${former && `OR (source IN (${former}) AND (${ofFormer}))`}`,
        { settings: { max_query_size: MAX_QUERY } },
      );
      await ended();
      return undefined;
    },
    sumPlaces: async (source, { from, to, block }) => {
      const rows = await readNumbers(
        ask,
        `SELECT intDiv(seq, ${block}) * ${block} AS first, count(), sum(seq) FROM ${quotedName(table)}
        WHERE ${ofSource(source)} AND seq >= ${from} AND seq < ${to} GROUP BY first`,
      );
      return new Map(
        rows.map(([first, rows, places]) => [first!, { rows: rows!, places: places! }]),
      );
    },
    places: async (source, { from, to }) => {
      const rows = await readNumbers(
        ask,
        `SELECT seq FROM ${quotedName(table)}
        WHERE ${ofSource(source)} AND seq >= ${from} AND seq < ${to}`,
      );
      return rows.map(([seq]) => seq!);
    },
  };
};
