import type Database from 'libsql';
import type { Row, RowFilter, Span } from '../port.js';

interface StoredRow {
  seq: number;
  id: string;
  type: Row['type'];
  project: string;
  channel: string | null;
  event: string | null;
  user_id: string | null;
  body: string;
  called_at: string;
  received_at: string;
  arrivals: number;
  client: string | null;
}

type Condition = readonly [sql: string, ...values: unknown[]];

/** Adds a field where there is a value. */
const maybe = <Name extends string>(
  name: Name,
  value: string | null,
): Partial<Record<Name, string>> =>
  value === null ? {} : ({ [name]: value } as Record<Name, string>);

const readRow = (row: StoredRow): Row => ({
  seq: row.seq,
  id: row.id,
  type: row.type,
  project: row.project,
  ...maybe('channel', row.channel),
  ...maybe('event', row.event),
  ...maybe('user_id', row.user_id),
  body: JSON.parse(row.body) as Row['body'],
  called_at: row.called_at,
  received_at: row.received_at,
  arrivals: row.arrivals,
  ...maybe('client', row.client),
});

const marks = (list: readonly unknown[]): string => list.map(() => '?').join(', ');
const equal = (column: string, value: string | undefined): Condition[] =>
  value === undefined ? [] : [[`${column} = ?`, value]];

const conditionsOf = ({ project, channel, user_id, type, event, not, client }: RowFilter) => [
  ...equal('project', project),
  ...equal('channel', channel),
  ...equal('user_id', user_id),
  ...equal('type', type),
  ...equal('client', client),
  ...(event?.length ? [[`event IN (${marks(event)})`, ...event] as const] : []),
  // An identify has no name, so it is none of these.
  ...(not?.length ? [[`coalesce(event NOT IN (${marks(not)}), TRUE)`, ...not] as const] : []),
];

/** Text as it stands in the JSON of a body. */
const asInJson = (text: string): string => JSON.stringify(text).slice(1, -1).toLowerCase();
// eslint-disable-next-line no-control-regex
const isAscii = (text: string): boolean => /^[\u0000-\u007f]*$/.test(text);

/** How many rows are read at a time where SQLite cannot look for the text. */
const LOOK_THROUGH = 1_000;

/** Reads rows. SQLite knows the case of ASCII letters alone, so any other text is looked for here, in steps. */
export const createRowReader = (database: Database.Database) => {
  const read = (conditions: readonly Condition[], span: Span): StoredRow[] => {
    const { after = 0, before = Number.MAX_SAFE_INTEGER, limit, newest } = span;
    const all: Condition[] = [...conditions, ['seq > ?', after], ['seq < ?', before]];
    return database
      .prepare<unknown[]>(
        `SELECT * FROM rows WHERE ${all.map(([sql]) => sql).join(' AND ')}
        ORDER BY seq ${newest ? 'DESC' : 'ASC'} LIMIT ?`,
      )
      .all(...all.flatMap(([, ...values]) => values), limit) as StoredRow[];
  };

  const lookThrough = async (
    conditions: readonly Condition[],
    text: string,
    span: Span,
  ): Promise<StoredRow[]> => {
    const found: StoredRow[] = [];
    const rest = { ...span, limit: LOOK_THROUGH };
    for (;;) {
      const rows = read(conditions, rest);
      found.push(...rows.filter(({ body }) => body.toLowerCase().includes(text)));
      const last = rows.at(-1);
      if (!last || rows.length < LOOK_THROUGH || found.length >= span.limit) break;
      if (span.newest) rest.before = last.seq;
      else rest.after = last.seq;
      await new Promise(setImmediate); // lets other work go on
    }
    return found.slice(0, span.limit);
  };

  return async (filter: RowFilter, span: Span): Promise<Row[]> => {
    const conditions = conditionsOf(filter);
    const text = filter.text && asInJson(filter.text);
    if (!text) return read(conditions, span).map(readRow);
    if (!isAscii(text)) return (await lookThrough(conditions, text, span)).map(readRow);
    return read([...conditions, ['instr(lower(body), ?) > 0', text]], span).map(readRow);
  };
};
