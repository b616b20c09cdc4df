import type Database from 'libsql';
import { anyCase } from '../any-case.js';
import type { Row, RowFilter, Span } from '../port.js';
import { storableText } from '../storable.js';
import { createSteps, type Ends } from './steps.js';
import { tagTexts } from '../tag-texts.js';

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

/** A field, if there is a value. */
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
  value === undefined ? [] : [[`${column} = ?`, storableText(value)]];

const arrivedIn = ({ from, to }: RowFilter): Condition[] => [
  ...(from === undefined ? [] : [['received_at >= ?', from] as const]),
  ...(to === undefined ? [] : [['received_at < ?', to] as const]),
];

const conditionsOf = (filter: RowFilter): Condition[] => {
  const { project, channel, user_id, type, event, not, client, text, notify } = filter;
  const { tag = [] } = filter;
  return [
    ...equal('project', project),
    ...equal('channel', channel),
    ...equal('user_id', user_id),
    ...equal('type', type),
    ...equal('client', client),
    ...(event?.length ? [[`event IN (${marks(event)})`, ...event.map(storableText)] as const] : []),
    // An identify has no event name, so it is never left out.
    ...(not?.length
      ? [[`coalesce(event NOT IN (${marks(not)}), TRUE)`, ...not.map(storableText)] as const]
      : []),
    ...(notify ? [['notify = 1'] as const] : []),
    ...(text ? [['body GLOB ?', globOf(storableText(text))] as const] : []),
    ...tag.map((one): Condition => {
      const texts = tagTexts(storableText(one));
      return [`(${texts.map(() => 'instr(body, ?)').join(' OR ')})`, ...texts];
    }),
    ...arrivedIn(filter),
  ];
};

/**
 * Text as it stands in the JSON of a body, whatever its case. SQLite's `lower` and LIKE know that of ASCII letters
 * alone. https://www.sqlite.org/lang_expr.html#the_like_glob_regexp_match_and_extract_operators
 */
const globOf = (text: string): string => {
  const letters = anyCase(JSON.stringify(text).slice(1, -1)).map((forms) =>
    // In brackets, what GLOB takes for more than itself stands for itself.
    forms.length > 1 || /[*?[]/.test(forms[0]!) ? `[${forms.join('')}]` : forms[0]!,
  );
  return `*${letters.join('')}*`;
};

/** Reads rows. A filter that few rows fit may have to look at all rows, so it does that in steps. */
export const createRowReader = (database: Database.Database) => {
  const steps = createSteps(database);

  /** The span, cut to the places of the rows of a time. The index on the time of arrival has them, and no other does. */
  const cutToTime = (filter: RowFilter, span: Span): Span => {
    const conditions = arrivedIn(filter);
    if (!conditions.length) return span;
    const all = conditions.map(([sql]) => sql).join(' AND ');
    const look = database.prepare<unknown[]>(
      `SELECT min(seq) AS first, max(seq) AS last FROM records WHERE ${all}`,
    );
    const [{ first, last }] = look.all(...conditions.map(([, value]) => value)) as [Ends];
    return {
      ...span,
      after: Math.max(span.after ?? 0, (first ?? 1) - 1),
      before: Math.min(span.before ?? Infinity, (last ?? 0) + 1),
    };
  };

  return async (filter: RowFilter, span: Span): Promise<Row[]> => {
    const { after, before, limit, newest } = cutToTime(filter, span);
    const conditions: Condition[] = [...conditionsOf(filter), ['seq > ?'], ['seq < ?']];
    const look = database.prepare<unknown[]>(
      `SELECT * FROM records WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
      ORDER BY seq ${newest ? 'DESC' : 'ASC'} LIMIT ?`,
    );
    const values = conditions.flatMap(([, ...given]) => given);
    const found: Row[] = [];
    for await (const places of steps({ after, before, newest })) {
      const rows = look.all(...values, ...places, limit - found.length) as StoredRow[];
      found.push(...rows.map(readRow));
      if (found.length >= limit) break;
    }
    return found;
  };
};
