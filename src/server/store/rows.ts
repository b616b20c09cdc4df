import { createValues, number, type Database } from './database.js';
import type { Row, RowFilter, Span } from './port.js';
import { present } from './present.js';
import { storableText } from './storable.js';
import { tagTexts } from './tag-texts.js';

type StoredRow = Omit<Row, 'body' | 'from_server'> & { body: string; from_server: unknown };

/** Reads rows. A filter that few rows fit may have to look at all rows. */
export const createRowReader = (database: Database) => {
  const { table, texts, time, iso, has, matches, pattern, read, pieces, blocks } = database;
  const records = table('records');
  const COLUMNS = `${number('r.seq', 'seq')}, id, type, project, channel, event, user_id,
    CAST(body AS text) AS body, ${iso('called_at')} AS called_at, ${iso('received_at')} AS received_at,
    arrivals, client, from_server`;

  const createConditions = () => {
    const { values, value } = createValues();
    const conditions: string[] = [];
    return {
      values,
      value,
      add: (condition: string): void => void conditions.push(condition),
      text: (): string => conditions.join(' AND ') || 'TRUE',
    };
  };
  type Conditions = ReturnType<typeof createConditions>;

  const addTime = ({ add, value }: Conditions, { from, to }: RowFilter): void => {
    if (from !== undefined) add(`received_at >= ${time(value(from))}`);
    if (to !== undefined) add(`received_at < ${time(value(to))}`);
  };
  /**
   * The span, cut to the places of the rows of a time. Both engines would otherwise walk from the newest row to those of
   * a time long ago; in SQLite a subselect as a bound is not combined with the places of a piece. LIMIT has Postgres look
   * by the time first.
   */
  const cutToTime = async (filter: RowFilter, span: Span): Promise<Span> => {
    const ends = [filter.from, filter.to].filter((end) => end !== undefined);
    if (!ends.length || (ends.length === 1 && !blocks)) return span;
    const conditions = createConditions();
    addTime(conditions, filter);
    const [found] = await read<{ first: number | null; last: number | null }>(
      `SELECT ${number('min(seq)', 'first')}, ${number('max(seq)', 'last')} FROM (
        SELECT seq FROM ${records} WHERE ${conditions.text()} LIMIT 9223372036854775807) AS arrived`,
      ...conditions.values,
    );
    const { first, last } = found!;
    return {
      ...span,
      after: Math.max(span.after ?? 0, (first ?? 1) - 1),
      before: Math.min(span.before ?? Infinity, (last ?? 0) + 1),
    };
  };
  const addFilter = (conditions: Conditions, filter: RowFilter): void => {
    const { add, value } = conditions;
    const list = (names: readonly string[]) =>
      `(SELECT value FROM ${texts(value(JSON.stringify(names.map(storableText))))})`;
    for (const name of ['project', 'channel', 'user_id', 'type', 'client'] as const) {
      const given = filter[name];
      if (given !== undefined) add(`${name} = ${value(storableText(given))}`);
    }
    if (filter.event?.length) add(`event IN ${list(filter.event)}`);
    // An identify has no event name, so it is never left out.
    if (filter.not?.length) add(`(event IS NULL OR event NOT IN ${list(filter.not)})`);
    if (filter.notify) add('notify');
    if (filter.text) add(matches('body', value(pattern(storableText(filter.text)))));
    for (const tag of filter.tag ?? []) {
      const found = tagTexts(storableText(tag)).map((text) => has('body', value(text)));
      add(`(${found.join(' OR ')})`);
    }
    addTime(conditions, filter);
  };

  return async (filter: RowFilter, span: Span): Promise<Row[]> => {
    const { limit, newest, ...places } = await cutToTime(filter, span);
    const found: StoredRow[] = [];
    for await (const [after, before] of pieces({ ...places, newest })) {
      const conditions = createConditions();
      const { add, value, values } = conditions;
      addFilter(conditions, filter);
      add(`r.seq > ${value(after)} AND r.seq < ${value(before)}`);
      found.push(
        ...(await read<StoredRow>(
          `SELECT ${COLUMNS} FROM ${records} AS r WHERE ${conditions.text()}
          ORDER BY r.seq ${newest ? 'DESC' : 'ASC'} LIMIT ${value(limit - found.length)}`,
          ...values,
        )),
      );
      if (found.length >= limit) break;
    }
    return found.map(({ body, from_server, ...row }) =>
      present({
        ...{ ...row, body: JSON.parse(body) as Row['body'] },
        ...(from_server ? ({ from_server: true } as const) : {}),
      }),
    );
  };
};
