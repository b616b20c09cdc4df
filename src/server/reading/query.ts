import { isDateTime } from '../../util/is-date-time.js';
import { isoTime } from '../iso-time.js';
import { isType, parseJson } from '../records.js';
import type { Erased, HourFilter, RowFilter, Span } from '../store/port.js';

/** Rows or refused in one answer. */
export const MAX_LIMIT = 1_000;
/** Dead records that one request sends again. */
export const MAX_RESENT = 1_000;
/** Fewer than rows: a profile may have a quarter of a million characters, and a time for each property. */
export const MAX_PROFILES = 100;
/** Hours in one answer: a year. */
export const MAX_HOURS = 366 * 24;
/** How long before its end a span of hours begins if the query does not say it. */
const HOURS = 30 * 24;
const HOUR_MS = 3_600_000;
/** Characters of a text that rows are searched for. */
export const MAX_TEXT = 200;

/** A request to read is answered 400, with a message that says what is wrong. */
export class WrongRequestError extends Error {
  override name = 'WrongRequestError' as const;
}

/** Throws a `WrongRequestError` with these words, unless it is right. */
export const check: (isRight: boolean, words: string) => asserts isRight = (isRight, words) => {
  if (!isRight) throw new WrongRequestError(words);
};

/** A whole number; undefined if the query has none. */
const numberIn = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name);
  if (!text) return undefined;
  check(/^\d{1,15}$/.test(text), `\`${name}\` must be a whole number`);
  return Number(text);
};

/** A date-time as the stores have it. `name`: the parameter that has the text. */
export const timeOf = (text: string, name: string): string => {
  const time = isDateTime(text) ? isoTime(text) : undefined;
  check(time !== undefined, `\`${name}\` must be a date-time of RFC 3339`);
  return time;
};
/** A time; undefined if the query has none. */
const timeIn = (query: URLSearchParams, name: string): string | undefined => {
  const text = query.get(name);
  return text ? timeOf(text, name) : undefined;
};

export const readLimit = (query: URLSearchParams, most = MAX_LIMIT): number =>
  Math.min(numberIn(query, 'limit') ?? most, most);

export const readSpan = (query: URLSearchParams): Span => ({
  after: numberIn(query, 'after'),
  before: numberIn(query, 'before'),
  limit: readLimit(query),
  newest: query.get('newest') === '1',
});

export const isString = (value: unknown): boolean => typeof value === 'string';

/** The pair in `after`, which is the `next` of an answer. Both of its items are of the same kind. */
export const readPair = <Pair>(
  query: URLSearchParams,
  ...kinds: readonly ((item: unknown) => boolean)[]
): Pair | undefined => {
  const text = query.get('after');
  if (!text) return undefined;
  const pair = parseJson(text);
  const isPair = Array.isArray(pair) && pair.length === 2 && kinds.some((is) => pair.every(is));
  check(isPair, '`after` must be the `next` of an answer');
  return pair as Pair;
};

/** The user that a query names. */
export const readUser = (query: URLSearchParams): { project: string; user_id: string } => {
  const [project, user_id] = [query.get('project'), query.get('user')];
  check(!!project && !!user_id, '`project` and `user` must be given');
  return { project, user_id };
};

/** `client`: the word that stands for the browser of the request, for `mine=1`. */
export const readFilter = (query: URLSearchParams, client: string | undefined): RowFilter => {
  const one = (name: string): string | undefined => query.get(name) || undefined;
  const many = (name: string): string[] => query.getAll(name).filter(Boolean);
  const [type, text] = [one('type'), one('text')];
  check(type === undefined || isType(type), '`type` must be identify or event');
  check((text?.length ?? 0) <= MAX_TEXT, `\`text\` may have ${MAX_TEXT} characters`);
  return {
    project: one('project'),
    channel: one('channel'),
    user_id: one('user'),
    type,
    event: many('event'),
    not: many('not'),
    text,
    tag: many('tag'),
    from: timeIn(query, 'from'),
    to: timeIn(query, 'to'),
    // A browser without a word gets one that no row has.
    ...(query.get('mine') === '1' && { client: client ?? '-' }),
  };
};

/**
 * Checks the query of a deletion, which may have these parameters. Otherwise more rows would go than somebody means: the
 * `&` in a name begins another parameter, and a script may have an empty variable.
 */
const checkDeletion = (query: URLSearchParams, known: readonly string[]): void => {
  const names = [...query.keys()];
  const other = names.find((name) => !known.includes(name));
  check(other === undefined, `\`${other}\` is not known here: ${known.join(', ')}`);
  const twice = names.find((name) => query.getAll(name).length > 1);
  check(twice === undefined, `\`${twice}\` may be given once`);
  const empty = names.find((name) => query.get(name) === '');
  check(empty === undefined, `\`${empty}\` must not be empty`);
};

/** Texts of a query as they were read, for an answer that has found nothing. */
export const inQuotes = (texts: object): string => {
  const parts = Object.entries(texts).map(([name, text]) => `${name} ${JSON.stringify(text)}`);
  const isSpaced = Object.values(texts).some((text) => String(text).includes(' '));
  const hint = '. A plus in an address is a space: write %2B, or use --data-urlencode of curl';
  return parts.join(', ') + (isSpaced ? hint : '');
};

/** An erasure of one user. */
export const readErasure = (query: URLSearchParams): { project: string; user_id: string } => {
  const user = readUser(query);
  checkDeletion(query, ['project', 'user']);
  return user;
};

const OF_DELETION = ['project', 'channel', 'event', 'from', 'to', 'dry', 'upto'];

/** A deletion of rows: only counted, or up to the place that the count has named. */
export const readDeletion = (
  query: URLSearchParams,
): { erased: Erased; upto: number | undefined } => {
  checkDeletion(query, OF_DELETION);
  const project = query.get('project');
  check(!!project, '`project` must be given');
  const upto = numberIn(query, 'upto');
  check(
    (query.get('dry') === '1') === (upto === undefined),
    'give `dry=1` to count the rows, and the `upto` of its answer to delete them',
  );
  const erased: Erased = { project };
  for (const name of ['channel', 'event'] as const) {
    const text = query.get(name);
    if (text) erased[name] = text;
  }
  for (const name of ['from', 'to'] as const) {
    const time = timeIn(query, name);
    if (time !== undefined) erased[name] = time;
  }
  return { erased, upto };
};

/** Two times, the last 30 days by default. */
export const readTimes = (query: URLSearchParams, now: number): { from: string; to: string } => {
  const from = timeIn(query, 'from');
  const to = timeIn(query, 'to') ?? new Date(now).toISOString();
  return { from: from ?? new Date(Date.parse(to) - HOURS * HOUR_MS).toISOString(), to };
};

/** Two times, both of which must be given. */
export const readBothTimes = (query: URLSearchParams): { from: string; to: string } => ({
  from: timeOf(query.get('from') ?? '', 'from'),
  to: timeOf(query.get('to') ?? '', 'to'),
});

/** Which hours to sum. `from` and `to` may lie in the middle of an hour, which is summed then, too. */
export const readHourFilter = (query: URLSearchParams, now: number): HourFilter => {
  const msOf = (name: string, missing: number): number => {
    const time = timeIn(query, name);
    return time === undefined ? missing : Date.parse(time);
  };
  const to = Math.ceil(msOf('to', now) / HOUR_MS) * HOUR_MS;
  const from = Math.floor(msOf('from', to - HOURS * HOUR_MS) / HOUR_MS) * HOUR_MS;
  const split = query.get('split') || undefined;
  check(split === undefined || split === 'event', '`split` must be event');
  checkHours(from, to);
  return {
    project: query.get('project') || undefined,
    channel: query.get('channel') || undefined,
    event: query.getAll('event').filter(Boolean),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    split: split !== undefined,
  };
};

/** Checks how far two times in milliseconds are apart. */
export const checkHours = (from: number, to: number): void =>
  check(
    to - from <= MAX_HOURS * HOUR_MS,
    `from \`from\` to \`to\` may be ${MAX_HOURS / 24} days at the most`,
  );
