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

const conditionsOf = (filter: RowFilter): Condition[] => {
  const { project, channel, user_id, type, event, not, client, text } = filter;
  return [
    ...equal('project', project),
    ...equal('channel', channel),
    ...equal('user_id', user_id),
    ...equal('type', type),
    ...equal('client', client),
    ...(event?.length ? [[`event IN (${marks(event)})`, ...event] as const] : []),
    // An identify has no name, so it is none of these.
    ...(not?.length ? [[`coalesce(event NOT IN (${marks(not)}), TRUE)`, ...not] as const] : []),
    ...(text ? [['body GLOB ?', globOf(text)] as const] : []),
  ];
};

/** A letter in either case, and what GLOB takes for more than itself, as GLOB matches it. */
const inAnyCase = (letter: string): string => {
  const cases = [letter.toLowerCase(), letter.toUpperCase()].filter(
    (one) => [...one].length === 1 && one !== letter,
  );
  return cases.length || /[*?[]/.test(letter) ? `[${letter}${cases.join('')}]` : letter;
};
/**
 * Text as it stands in the JSON of a body, whatever its case. SQLite's `lower` and LIKE know that of ASCII letters
 * alone. https://www.sqlite.org/lang_expr.html#the_like_glob_regexp_match_and_extract_operators
 */
const globOf = (text: string): string =>
  `*${[...JSON.stringify(text).slice(1, -1)].map(inAnyCase).join('')}*`;

/** Reads rows. */
export const createRowReader =
  (database: Database.Database) =>
  (filter: RowFilter, { after, before, limit, newest }: Span): Row[] => {
    const conditions: Condition[] = [
      ...conditionsOf(filter),
      ['seq > ?', after ?? 0],
      ['seq < ?', before ?? Number.MAX_SAFE_INTEGER],
    ];
    const rows = database
      .prepare<unknown[]>(
        `SELECT * FROM rows WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
        ORDER BY seq ${newest ? 'DESC' : 'ASC'} LIMIT ?`,
      )
      .all(...conditions.flatMap(([, ...values]) => values), limit) as StoredRow[];
    return rows.map(readRow);
  };
