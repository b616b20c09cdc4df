import type { Row } from '../store/port.js';
import type { Erasure } from '../store/progress.js';
import { sleep } from '../time.js';
import { createFill, RowRefusedError, type Line } from './batches.js';
import {
  ClickhouseError,
  createClickhouseClient,
  quotedName,
  readClickhouseAddress,
  textValue,
} from './clickhouse-client.js';
import type { Target, Turn } from './target.js';

/** An insert of this size becomes one part, which is written as a whole or not at all. */
const [MAX_ROWS, MAX_CHARACTERS] = [20_000, 8 * 1_048_576];
/** Each insert makes a part, and ClickHouse wants few of them. */
const WAIT_MS = 2_000;
/** How long to wait for the end of inserts that may still run, and how often to look. */
const [END_WITHIN_MS, LOOK_MS] = [60_000, 200];
/** Bytes of a statement. Erasures name users, whose names may be long. */
const MAX_QUERY = 64 * 1_048_576;
/** A deletion rewrites parts, which may take long. */
const [ERASED_WITHIN_MS, ERASED_LOOK_MS] = [3_600_000, 1_000];

/** The columns, with what a row has in them. `body` is the whole body as JSON. */
const COLUMNS = {
  seq: 'UInt64',
  id: 'String',
  type: 'String',
  project: 'String',
  channel: 'String',
  event: 'String',
  user_id: 'String',
  body: 'String',
  called_at: `DateTime('UTC')`,
  called_at_ms: 'Int64',
  received_at: `DateTime('UTC')`,
  received_at_ms: 'Int64',
  client: 'String',
  source: 'String',
  cell: 'String',
  exported_at: `DateTime('UTC')`,
} as const;
const NAMES = Object.keys(COLUMNS);

/** The last second that a DateTime can hold. */
const LAST_SECOND = 2 ** 32 - 1;
const secondOf = (ms: number): number => Math.min(LAST_SECOND, Math.max(0, Math.floor(ms / 1_000)));

/** A row as JSON, but for the columns that are the same for a whole insert. */
const lineOf = (row: Row): string => {
  const { seq, id, type, project, channel = '', event = '', user_id = '', client = '' } = row;
  const [called, received] = [Date.parse(row.called_at), Date.parse(row.received_at)];
  return JSON.stringify({
    ...{ seq, id, type, project, channel, event, user_id, client, body: JSON.stringify(row.body) },
    ...{ called_at: secondOf(called), called_at_ms: called },
    ...{ received_at: secondOf(received), received_at_ms: received },
  });
};

/** Errors that a value of a row can cause. Any other is trouble of the server or of the table. */
const OF_A_ROW: ReadonlySet<number> = new Set([
  // CANNOT_PARSE…, INCORRECT_DATA, TYPE_MISMATCH, CANNOT_CONVERT_TYPE, VIOLATED_CONSTRAINT, and sizes and ranges
  ...[6, 25, 26, 27, 38, 41, 72, 117, 53, 70, 469, 69, 128, 131, 321],
]);

/** Settings by the version that knows them first. An older one refuses the whole statement. */
const SETTINGS: readonly (readonly [version: number, settings: Record<string, number>])[] = [
  [20.01, { input_format_parallel_parsing: 0 }],
  [21.11, { async_insert: 0 }],
];
const TABLE_SETTINGS: typeof SETTINGS = [[21.03, { fsync_after_insert: 1 }]];
const known = (all: typeof SETTINGS, version: number): Record<string, number> =>
  Object.assign({}, ...all.filter(([from]) => version >= from).map(([, settings]) => settings));

/** The year and month of a version as one number that can be compared: 21.11 comes after 21.3. */
const versionOf = (text: string): number => {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(text) ?? [];
  return Number(major) + Number(minor) / 100;
};

/** Fills a table of a ClickHouse. */
export const createClickhouseTarget = (address: string): Target => {
  const place = readClickhouseAddress(address);
  const { database, table, name, cell } = place;
  const { ask } = createClickhouseClient(place);
  const quoted = quotedName(table);
  const isOurs = `database = ${textValue(database)} AND table = ${textValue(table)}`;
  const ofSource = (source: string) => `source = ${textValue(source)}`;
  let settings: Record<string, number> = {};

  const numbers = async (statement: string): Promise<number[][]> =>
    (await ask(statement)).map((line) => line.split('\t').map(Number));

  const insert = async (lines: readonly Line[], turn: Turn): Promise<void> => {
    const [first, last] = [lines[0]!, lines.at(-1)!];
    const exported_at = Math.floor(Date.now() / 1_000);
    const ofAll = JSON.stringify({ source: turn.source, cell, exported_at });
    const rest = `,${ofAll.slice(1)}\n`;
    try {
      await ask(`INSERT INTO ${quoted} (${NAMES.join(', ')}) FORMAT JSONEachRow`, {
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

  /** Ends inserts of this source that still run, for a process that was killed or gave up. */
  const endInserts = async (source: string): Promise<void> => {
    const theirs = `startsWith(query_id, ${textValue(`${source}.`)})`;
    const count = async () =>
      (await numbers(`SELECT count() FROM system.processes WHERE ${theirs}`))[0]![0]!;
    if (!(await count())) return;
    await ask(`KILL QUERY WHERE ${theirs} SYNC`).catch(() => {}); // without the right to end them, they end by themselves
    const until = Date.now() + END_WITHIN_MS;
    while (await count()) {
      if (Date.now() > until) throw new Error('an earlier insert still runs there');
      await sleep(LOOK_MS);
    }
  };

  const makeTable = async (version: number): Promise<void> => {
    const columns = Object.entries(COLUMNS).map(([column, type]) => `${column} ${type}`);
    const ofTable = Object.entries(known(TABLE_SETTINGS, version));
    const all = ofTable.map(([setting, value]) => `${setting} = ${value}`).join(', ');
    await ask(`CREATE TABLE IF NOT EXISTS ${quoted} (
      ${columns.join(', ')}, day Date MATERIALIZED toDate(received_at)
    ) ENGINE = MergeTree() PARTITION BY toYYYYMM(exported_at)
    ORDER BY (project, event, received_at) ${all && `SETTINGS ${all}`}`);
  };

  return {
    name,
    wait: { ms: WAIT_MS, rows: MAX_ROWS },
    prepare: async () => {
      const [version = ''] = await ask('SELECT version()');
      if (!/^\d+\.\d+/.test(version))
        throw new Error(`no ClickHouse answers there, but: ${version.slice(0, 80)}`);
      const number = versionOf(version);
      settings = known(SETTINGS, number);
      const findEngine = () =>
        ask(
          `SELECT engine FROM system.tables WHERE database = ${textValue(database)} AND name = ${textValue(table)}`,
        );
      if (!(await findEngine()).length) await makeTable(number);
      const [engine] = await findEngine();
      if (engine !== 'MergeTree')
        throw new Error(
          `its table ${table} is a ${engine}, and an insert is all or nothing only in a MergeTree. Name another table: \`?table=…\``,
        );
      const columns = new Map(
        (await ask(`DESCRIBE TABLE ${quoted}`)).map((line) => line.split('\t') as [string, string]),
      );
      const missing = NAMES.filter((column) => !columns.has(column));
      if (missing.length)
        throw new Error(
          `its table ${table} lacks the column ${missing.join(', ')}. Name another table, which is made then: \`?table=…\``,
        );
      // It says whether this user may write.
      await ask(`INSERT INTO ${quoted} (${NAMES.join(', ')}) FORMAT JSONEachRow`, {
        rows: '',
        settings,
      });
    },
    last: async (source) => {
      await endInserts(source);
      const [line = ''] = await ask(
        `SELECT count(), max(seq), hex(argMax(id, seq)) FROM ${quoted} WHERE ${ofSource(source)}`,
      );
      const [count, seq, id = ''] = line.split('\t');
      return Number(count)
        ? { place: Number(seq), id: Buffer.from(id, 'hex').toString('utf8') }
        : undefined;
    },
    fill: createFill({ maxRows: MAX_ROWS, maxCharacters: MAX_CHARACTERS, lineOf, insert }),
    erase: async (source, erasures) => {
      const found = erasures.map(conditionOf).join(' OR ');
      const former = source.former.map(textValue).join(', ');
      const ofFormer = erasures.map((one) => conditionOf({ ...one, upto: Infinity })).join(' OR ');
      await ask(
        `ALTER TABLE ${quoted} DELETE WHERE (${ofSource(source.id)} AND (${found}))
        ${former && `OR (source IN (${former}) AND (${ofFormer}))`}`,
        { settings: { max_query_size: MAX_QUERY } },
      );
      const until = Date.now() + ERASED_WITHIN_MS;
      while (
        (
          await numbers(`SELECT count() FROM system.mutations WHERE ${isOurs} AND is_done = 0`)
        )[0]![0]
      ) {
        if (Date.now() > until) throw new Error('the deletion does not end');
        await sleep(ERASED_LOOK_MS);
      }
    },
    sumPlaces: async (source, { from, to, block }) => {
      const rows = await numbers(
        `SELECT intDiv(seq, ${block}) * ${block} AS first, count(), sum(seq) FROM ${quoted}
        WHERE ${ofSource(source)} AND seq >= ${from} AND seq < ${to} GROUP BY first`,
      );
      return new Map(
        rows.map(([first, rows, places]) => [first!, { rows: rows!, places: places! }]),
      );
    },
    places: async (source, { from, to }) => {
      const rows = await numbers(
        `SELECT seq FROM ${quoted} WHERE ${ofSource(source)} AND seq >= ${from} AND seq < ${to}`,
      );
      return rows.map(([seq]) => seq!);
    },
  };
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
