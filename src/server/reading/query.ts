import type { RecordType } from '../../interface/bodies.js';
import type { RowFilter, Span } from '../store/port.js';

/** Rows or refused in one answer. */
export const MAX_LIMIT = 1_000;
/** Dead records that one request sends again. */
export const MAX_RESENT = 1_000;
/** Fewer than rows: a profile may have a quarter of a million characters, and a time for each property. */
export const MAX_PROFILES = 100;
/** Characters of a text that rows are searched for. */
export const MAX_TEXT = 200;

/** The value that a query asks for, or in words what is wrong with the query. */
export type Asked<Value> = { value: Value } | { wrong: string };

const wrong = (words: string): { wrong: string } => ({ wrong: words });

/** A whole number, undefined if the query has none, NaN if it has something else. */
const numberIn = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name);
  if (!text) return undefined;
  return /^\d{1,15}$/.test(text) ? Number(text) : NaN;
};

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
  return {
    value: {
      project: one('project'),
      channel: one('channel'),
      user_id: one('user'),
      type,
      event: many('event'),
      not: many('not'),
      text,
      // A browser without a word gets one that no row has.
      ...(query.get('mine') === '1' && { client: client ?? '-' }),
    },
  };
};
