import { createValues, number, type Database } from './database.js';
import type { RowFilter, Span } from './port.js';
import { storableText } from './storable.js';
import { tagTexts } from './tag-texts.js';

/** Filters of rows as conditions of a statement over `records AS r`. */
export const createFilters = (database: Database) => {
  const { table, texts, time, has, matches, pattern, read, blocks } = database;

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
  /** The conditions of a filter. Those of several filters can share the values of one statement. */
  const conditionsOf = (filter: RowFilter, shared?: Conditions): Conditions => {
    const own = createConditions();
    const conditions = shared ? { ...own, values: shared.values, value: shared.value } : own;
    const { add, value } = conditions;
    const list = (names: readonly string[]) =>
      `(SELECT value FROM ${texts(value(JSON.stringify(names.map(storableText))))})`;
    for (const name of ['project', 'channel', 'user_id', 'type', 'client'] as const) {
      const given = filter[name];
      if (given !== undefined) add(`r.${name} = ${value(storableText(given))}`);
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
    return conditions;
  };

  /**
   * The span, cut to the places of the rows of a time. Both engines would otherwise walk from the newest row to those of
   * a time long ago; in SQLite a subselect as a bound is not combined with the places of a piece. LIMIT has Postgres look
   * by the time first.
   */
  const cutToTime = async <Given extends Partial<Span>>(
    filter: RowFilter,
    span: Given,
  ): Promise<Given> => {
    const ends = [filter.from, filter.to].filter((end) => end !== undefined);
    if (!ends.length || (ends.length === 1 && !blocks)) return span;
    const conditions = createConditions();
    addTime(conditions, filter);
    const [found] = await read<{ first: number | null; last: number | null }>(
      `SELECT ${number('min(seq)', 'first')}, ${number('max(seq)', 'last')} FROM (
        SELECT seq FROM ${table('records')} WHERE ${conditions.text()} LIMIT 9223372036854775807) AS arrived`,
      ...conditions.values,
    );
    const { first, last } = found!;
    return {
      ...span,
      after: Math.max(span.after ?? 0, (first ?? 1) - 1),
      before: Math.min(span.before ?? Infinity, (last ?? 0) + 1),
    };
  };
  return { conditionsOf, cutToTime };
};

export type Filters = ReturnType<typeof createFilters>;

/** Whether rows that fit are found by an index, or all rows fit. For other filters rows have to be looked through. */
export const isFound = ({ project, user_id, from: _, to: __, ...others }: RowFilter): boolean =>
  (project === undefined || user_id !== undefined) && !isGiven(others);

/** Whether any part of a filter is given. */
export const isGiven = (filter: RowFilter): boolean =>
  Object.values(filter).some((part) =>
    Array.isArray(part) ? part.length > 0 : part !== undefined,
  );
