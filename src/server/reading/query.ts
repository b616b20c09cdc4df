import type { RecordType } from '../../interface/bodies.js';
import { isDateTime } from '../../util/is-date-time.js';
import { isoTime } from '../iso-time.js';
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

/** What was read from a query: a value, or words that say what is wrong. */
export type Asked<Value> = { value: Value } | { wrong: string };

const wrong = (words: string): { wrong: string } => ({ wrong: words });
export const NO_USER = '`project` and `user` must be given';

/** A whole number, undefined if the query has none, NaN if it has something else. */
const numberIn = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name);
  if (!text) return undefined;
  return /^\d{1,15}$/.test(text) ? Number(text) : NaN;
};

/** A time, undefined if the query has none, an empty text if it has something else. */
const timeIn = (query: URLSearchParams, name: string): string | undefined => {
  const text = query.get(name);
  return text ? (isDateTime(text) && isoTime(text)) || '' : undefined;
};
const noTime = (name: string): { wrong: string } =>
  wrong(`\`${name}\` must be a date-time of RFC 3339`);

export const readSpan = (query: URLSearchParams): Asked<Span> => {
  const [after, before, limit] = ['after', 'before', 'limit'].map((name) => numberIn(query, name));
  for (const [name, value] of Object.entries({ after, before, limit })) {
    if (Number.isNaN(value)) return wrong(`\`${name}\` must be a whole number`);
  }
  const newest = query.get('newest') === '1';
  return { value: { after, before, limit: Math.min(limit ?? MAX_LIMIT, MAX_LIMIT), newest } };
};

const isType = (value: string): value is RecordType => value === 'identify' || value === 'event';

/** `client`: the client word of the browser that sent the request, for `mine=1`. */
export const readFilter = (
  query: URLSearchParams,
  client: string | undefined,
): Asked<RowFilter> => {
  const one = (name: string): string | undefined => query.get(name) || undefined;
  const many = (name: string): string[] => query.getAll(name).filter(Boolean);
  const [type, text] = [one('type'), one('text')];
  if (type !== undefined && !isType(type)) return wrong('`type` must be identify or event');
  if ((text?.length ?? 0) > MAX_TEXT) return wrong(`\`text\` may have ${MAX_TEXT} characters`);
  const [from, to] = ['from', 'to'].map((name) => {
    const given = one(name);
    return given && ((isDateTime(given) && isoTime(given)) || null);
  });
  if (from === null) return wrong('`from` must be a date-time of RFC 3339');
  if (to === null) return wrong('`to` must be a date-time of RFC 3339');
  return {
    value: {
      project: one('project'),
      channel: one('channel'),
      user_id: one('user'),
      type,
      event: many('event'),
      not: many('not'),
      text,
      tag: many('tag'),
      ...{ from, to },
      // A browser without a word gets one that no row has.
      ...(query.get('mine') === '1' && { client: client ?? '-' }),
    },
  };
};

/**
 * What is wrong with the query of a deletion, which may have these parameters. Otherwise more rows would go than somebody
 * means: the `&` in a name begins another parameter, and a script may have an empty variable.
 */
const faultOf = (query: URLSearchParams, known: readonly string[]): string | undefined => {
  const names = [...query.keys()];
  const other = names.find((name) => !known.includes(name));
  if (other !== undefined) return `\`${other}\` is not known here: ${known.join(', ')}`;
  const twice = names.find((name) => query.getAll(name).length > 1);
  if (twice !== undefined) return `\`${twice}\` may be given once`;
  const empty = names.find((name) => query.get(name) === '');
  return empty === undefined ? undefined : `\`${empty}\` must not be empty`;
};

/** Texts of a query as they were read, for an answer that has found nothing. */
export const inQuotes = (texts: object): string => {
  const parts = Object.entries(texts).map(([name, text]) => `${name} ${JSON.stringify(text)}`);
  const isSpaced = Object.values(texts).some((text) => String(text).includes(' '));
  const hint = '. A plus in an address is a space: write %2B, or use --data-urlencode of curl';
  return parts.join(', ') + (isSpaced ? hint : '');
};

/** An erasure of one user. */
export const readErasure = (
  query: URLSearchParams,
): Asked<{ project: string; user_id: string }> => {
  const [project, user_id] = [query.get('project'), query.get('user')];
  if (!project || !user_id) return wrong(NO_USER);
  const fault = faultOf(query, ['project', 'user']);
  return fault === undefined ? { value: { project, user_id } } : wrong(fault);
};

const OF_DELETION = ['project', 'channel', 'event', 'from', 'to', 'dry', 'upto'];

/** A deletion of rows: only counted, or up to the place that the count has named. */
export const readDeletion = (
  query: URLSearchParams,
): Asked<{ erased: Erased; upto: number | undefined }> => {
  const fault = faultOf(query, OF_DELETION);
  if (fault !== undefined) return wrong(fault);
  const project = query.get('project');
  if (!project) return wrong('`project` must be given');
  const upto = numberIn(query, 'upto');
  const isDry = query.get('dry') === '1';
  if (isDry === (upto !== undefined) || Number.isNaN(upto))
    return wrong('give `dry=1` to count the rows, and the `upto` of its answer to delete them');
  const erased: Erased = { project };
  for (const name of ['channel', 'event'] as const) {
    const text = query.get(name);
    if (text) erased[name] = text;
  }
  for (const name of ['from', 'to'] as const) {
    const time = timeIn(query, name);
    if (time === '') return noTime(name);
    if (time !== undefined) erased[name] = time;
  }
  return { value: { erased, upto } };
};

/** Two times, the last 30 days by default. `both`: they must be given. */
export const readTimes = (
  query: URLSearchParams,
  now: number,
  { both = false } = {},
): Asked<{ from: string; to: string }> => {
  const [from, to] = [timeIn(query, 'from'), timeIn(query, 'to')];
  if (from === '' || (both && !from)) return noTime('from');
  if (to === '' || (both && !to)) return noTime('to');
  const end = to ?? new Date(now).toISOString();
  const start = new Date(Date.parse(end) - HOURS * HOUR_MS).toISOString();
  return { value: { from: from ?? start, to: end } };
};

/** Which hours to sum. `from` and `to` may lie in the middle of an hour, which is summed then, too. */
export const readHourFilter = (query: URLSearchParams, now: number): Asked<HourFilter> => {
  const msOf = (name: string, missing: number): number => {
    const time = timeIn(query, name);
    return time === undefined ? missing : Date.parse(time);
  };
  const to = Math.ceil(msOf('to', now) / HOUR_MS) * HOUR_MS;
  const from = Math.floor(msOf('from', to - HOURS * HOUR_MS) / HOUR_MS) * HOUR_MS;
  for (const [name, value] of Object.entries({ to, from })) {
    if (Number.isNaN(value) && query.get(name)) return noTime(name);
  }
  const split = query.get('split') || undefined;
  if (split !== undefined && split !== 'event') return wrong('`split` must be event');
  if (to - from > MAX_HOURS * HOUR_MS)
    return wrong(`from \`from\` to \`to\` may be ${MAX_HOURS / 24} days at the most`);
  return {
    value: {
      project: query.get('project') || undefined,
      channel: query.get('channel') || undefined,
      event: query.getAll('event').filter(Boolean),
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      split: split !== undefined,
    },
  };
};
