import type Database from 'libsql';
import { anyCase } from '../any-case.js';
import type { Row, RowFilter, Span } from '../port.js';
import { storableText } from '../storable.js';
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
  const { project, channel, user_id, type, event, not, client, text, tag = [] } = filter;
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

/**
 * How many places are looked through at a time: as many as take some milliseconds, since a row may have a hundred bytes
 * or a hundred thousand. A step stays small over small rows, because large ones may follow. SQLite blocks the only thread
 * meanwhile, so other requests get a turn after each step, and also after the last one: an export asks for page after
 * page.
 */
const [FIRST_STEP, MIN_STEP, MAX_STEP] = [100, 20, 500];
const STEP_MS = 10;
const nextStep = (step: number, tookMs: number): number =>
  tookMs > STEP_MS ? Math.max(MIN_STEP, Math.ceil(step / 2)) : Math.min(MAX_STEP, step * 2);

interface Ends {
  first: number | null;
  last: number | null;
}

/** Reads rows. A filter that few rows fit may have to look at all rows, so it does that in steps. */
export const createRowReader = (database: Database.Database) => {
  const ends = database.prepare<unknown[]>(
    'SELECT (SELECT min(seq) FROM records) AS first, (SELECT max(seq) FROM records) AS last',
  );

  /** The first and the last place of rows of a time: the index on the time of arrival has them, and no other does. */
  const endsOf = (filter: RowFilter): Ends => {
    const conditions = arrivedIn(filter);
    if (!conditions.length) return (ends.all() as [Ends])[0];
    const all = conditions.map(([sql]) => sql).join(' AND ');
    const look = database.prepare<unknown[]>(
      `SELECT min(seq) AS first, max(seq) AS last FROM records WHERE ${all}`,
    );
    return (look.all(...conditions.map(([, value]) => value)) as [Ends])[0];
  };

  return async (filter: RowFilter, { after, before, limit, newest }: Span): Promise<Row[]> => {
    const conditions: Condition[] = [...conditionsOf(filter), ['seq > ?'], ['seq < ?']];
    const look = database.prepare<unknown[]>(
      `SELECT * FROM records WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
      ORDER BY seq ${newest ? 'DESC' : 'ASC'} LIMIT ?`,
    );
    const values = conditions.flatMap(([, ...given]) => given);
    const { first, last } = endsOf(filter);
    let low = Math.max(after ?? 0, (first ?? 1) - 1);
    let high = Math.min(before ?? Infinity, (last ?? 0) + 1);
    const found: Row[] = [];
    let step = FIRST_STEP;
    while (found.length < limit && high - low > 1) {
      const from = newest ? Math.max(low, high - 1 - step) : low;
      const to = newest ? high : Math.min(high, low + 1 + step);
      const startedAt = performance.now();
      const rows = look.all(...values, from, to, limit - found.length) as StoredRow[];
      found.push(...rows.map(readRow));
      step = nextStep(step, performance.now() - startedAt);
      if (newest) high = from + 1;
      else low = to - 1;
      await new Promise(setImmediate);
    }
    return found;
  };
};
