import type { Row } from '../store/port.js';
import { quotedName, textValue, type Ask } from './clickhouse-client.js';

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
const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

/** The types of columns that hold each value of ours. */
const FITTING: Readonly<Record<(typeof COLUMNS)[keyof typeof COLUMNS], RegExp>> = {
  UInt64: /^U?Int(64|128|256)$/,
  Int64: /^Int(64|128|256)$/,
  String: /^(String|LowCardinality\(String\))$/,
  [`DateTime('UTC')`]: /^DateTime(\(.*\))?$/,
};

/**
 * Engines that keep rows as they came, with the names that hosts and clusters give them, such as `SharedMergeTree`. Those
 * that are left out merge rows into one.
 */
const KEEPS_ROWS =
  /^(?!.*(Replacing|Summing|Aggregating|Collapsing|Graphite|Coalescing))\w*MergeTree$/;

/** The last second that each ClickHouse shows as it is. A DateTime holds some weeks more, which 18.16 takes for 1970. */
const LAST_SECOND = Date.UTC(2106, 0) / 1_000 - 1;
const secondOf = (ms: number): number => Math.min(LAST_SECOND, Math.max(0, Math.floor(ms / 1_000)));

/** A row as JSON, but for the columns that are the same for a whole insert. */
export const lineOf = (row: Row): string => {
  const { seq, id, type, project, channel = '', event = '', user_id = '', client = '' } = row;
  const [called, received] = [Date.parse(row.called_at), Date.parse(row.received_at)];
  return JSON.stringify({
    ...{ seq, id, type, project, channel, event, user_id, client, body: JSON.stringify(row.body) },
    ...{ called_at: secondOf(called), called_at_ms: called },
    ...{ received_at: secondOf(received), received_at_ms: received },
  });
};

export const insertInto = (table: string): string =>
  `INSERT INTO ${quotedName(table)} (${NAMES.join(', ')}) FORMAT JSONEachRow`;

export type ClickhouseSettings = Readonly<Record<string, number>>;

/** Settings by the version that knows them first. An older one refuses the whole statement. */
const INSERT_SETTINGS: readonly (readonly [version: number, settings: ClickhouseSettings])[] = [
  [20.01, { input_format_parallel_parsing: 0 }],
  [21.11, { async_insert: 0 }],
];
const TABLE_SETTINGS: typeof INSERT_SETTINGS = [[21.03, { fsync_after_insert: 1 }]];
const known = (all: typeof INSERT_SETTINGS, version: number): ClickhouseSettings =>
  Object.assign({}, ...all.filter(([from]) => version >= from).map(([, settings]) => settings));

/** The year and month of a version as one number that can be compared: 21.11 comes after 21.3. */
const readVersion = async (ask: Ask): Promise<number> => {
  const [text = ''] = await ask('SELECT version()');
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(text) ?? [];
  if (major === undefined)
    throw new Error(`no ClickHouse answers there, but: ${text.slice(0, 80)}`);
  return Number(major) + Number(minor) / 100;
};

const makeTable = async (ask: Ask, table: string, version: number): Promise<void> => {
  const columns = Object.entries(COLUMNS).map(([column, type]) => `${column} ${type}`);
  const settings = Object.entries(known(TABLE_SETTINGS, version));
  const all = settings.map(([setting, value]) => `${setting} = ${value}`).join(', ');
  await ask(`CREATE TABLE IF NOT EXISTS ${quotedName(table)} (
    ${columns.join(', ')}, day Date MATERIALIZED toDate(received_at)
  ) ENGINE = MergeTree() PARTITION BY toYYYYMM(exported_at)
  ORDER BY (project, event, received_at) ${all && `SETTINGS ${all}`}`);
};

/** Makes the table if it is missing, and checks that rows can be written there. Returns the settings of inserts. */
export const prepareTable = async (
  ask: Ask,
  { database, table }: { database: string; table: string },
): Promise<ClickhouseSettings> => {
  const version = await readVersion(ask);
  const [engine] = await ask(
    `SELECT engine FROM system.tables WHERE database = ${textValue(database)} AND name = ${textValue(table)}`,
  );
  if (engine === undefined) await makeTable(ask, table, version);
  else if (!KEEPS_ROWS.test(engine))
    throw new Error(
      `its table ${table} is a ${engine}, and an insert is all or nothing only in a MergeTree. Name another table: \`?table=…\``,
    );
  const columns = new Map(
    (await ask(`DESCRIBE TABLE ${quotedName(table)}`)).map((line) => {
      const [column, type] = line.split('\t');
      return [column, type!];
    }),
  );
  const wrong = NAMES.flatMap((column) => {
    const [type, needed] = [columns.get(column), COLUMNS[column]];
    if (type !== undefined && FITTING[needed].test(type)) return [];
    return [`${column} ${needed}${type === undefined ? '' : ` (it is ${type} there)`}`];
  });
  if (wrong.length)
    throw new Error(
      `its table ${table} lacks the column ${wrong.join(', ')}. Name another table, which is made then: \`?table=…\``,
    );
  const settings = known(INSERT_SETTINGS, version);
  // An insert of no rows is refused if this user may not write.
  await ask(insertInto(table), { rows: '', settings });
  return settings;
};
