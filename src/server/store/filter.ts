import { createValues, number, type Database } from './database.js';
import type { RowFilter, Span } from './port.js';
import { storableText } from './storable.js';
import { tagTexts } from './tag-texts.js';

/** How much of a time is looked up at once, and in how many parts a long one. */
const [PIECE_MS, MAX_PIECES] = [6 * 3_600_000, 1_000];

/** Filters of rows as conditions of a statement over `records AS r`. */
export const createFilters = (database: Database) => {
  const { table, texts, time, iso, has, matches, pattern, read, blocks } = database;

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

  const between = (
    conditions: string,
  ) => `SELECT ${number('min(seq)', 'first')}, ${number('max(seq)', 'last')}
    FROM (SELECT seq FROM ${table('records')} WHERE ${conditions} LIMIT 9223372036854775807) AS arrived`;
  const ends = `SELECT (SELECT ${iso('min(received_at)')} FROM ${table('records')}) AS oldest,
    (SELECT ${iso('max(received_at)')} FROM ${table('records')}) AS newest`;
  /**
   * The span, cut to the places of the rows of a time. Both engines would otherwise walk from the newest row to those of
   * a time long ago; in SQLite a subselect as a bound is not combined with the places of a step. LIMIT has Postgres look
   * by the time first. Where reading blocks the only thread, a part of the time is looked up at once.
   */
  const cutToTime = async <Given extends Partial<Span>>(
    filter: RowFilter,
    span: Given,
    isWhole = false,
  ): Promise<Given> => {
    const given = [filter.from, filter.to].filter((end) => end !== undefined).length;
    if (!given || (given === 1 && isWhole)) return span;
    const [known] = await read<{ oldest: string | null; newest: string | null }>(ends);
    const [oldest, newest] = [Date.parse(known!.oldest ?? ''), Date.parse(known!.newest ?? '')];
    const start = Math.max(filter.from ? Date.parse(filter.from) : oldest, oldest);
    const end = Math.min(filter.to ? Date.parse(filter.to) : Infinity, newest + 1);
    if (start === oldest && end > newest) return span;
    const pieceMs = blocks ? Math.max(PIECE_MS, (end - start) / MAX_PIECES) : end - start;
    let [first, last] = [Infinity, 0];
    for (let at = start; at < end; at += pieceMs) {
      const { add, value, values, text } = createConditions();
      const [from, to] = [at, Math.min(end, at + pieceMs)].map((ms) => new Date(ms).toISOString());
      addTime({ add, value, values, text }, { from, to });
      const [found] = await read<{ first: number | null; last: number | null }>(
        between(text()),
        ...values,
      );
      first = Math.min(first, found!.first ?? Infinity);
      last = Math.max(last, found!.last ?? 0);
      if (blocks) await new Promise(setImmediate);
    }
    return {
      ...span,
      after: Math.max(span.after ?? 0, last ? first - 1 : 0),
      before: Math.min(span.before ?? Infinity, last + 1),
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
