import { isDateTime } from '../../util/is-date-time.js';
import { isoTime } from '../iso-time.js';
import { parseJson } from '../records.js';
import type { RowFilter, UserFilter, UsersPlace } from '../store/port.js';
import { MAX_HOURS, readFilter, readHourFilter, readSpan, type Asked } from './query.js';

/** How long rows are looked through for one answer, and for the first rows of a page. */
export const [LOOK_MS, FIRST_LOOK_MS] = [1_400, 700];
/** Parts of a filter that are counted one by one, and tags whose values are counted. */
export const [MAX_PARTS, MAX_TAGS] = [20, 5];
/** Users in one answer, and ends of days. */
export const [MAX_USERS, MAX_DAYS] = [100, 32];
/** Characters of the beginning of an id. */
export const MAX_START = 1_024;

const wrong = (words: string): { wrong: string } => ({ wrong: words });
const isWrong = (asked: Asked<unknown>): asked is { wrong: string } => 'wrong' in asked;

/** One part of a filter, as a query names it. */
export interface Part {
  name: string;
  value: string;
  filter: RowFilter;
}

/** A filter, and each of its parts alone, in the same time. Names that are left out stand for the rows of these names. */
export const partsOf = (filter: RowFilter, onlyProject: string | undefined): Part[] => {
  const within = { from: filter.from, to: filter.to, project: onlyProject };
  const one = (['text', 'project', 'channel', 'type'] as const).flatMap((name) => {
    const value = filter[name];
    return value === undefined ? [] : [{ name, value, filter: { ...within, [name]: value } }];
  });
  const { user_id, event = [], not = [], tag = [], client } = filter;
  return [
    ...one,
    ...(user_id === undefined
      ? []
      : [
          { name: 'user', value: user_id, filter: { ...within, project: filter.project, user_id } },
        ]),
    ...event.map((value) => ({ name: 'event', value, filter: { ...within, event: [value] } })),
    ...not.map((value) => ({ name: 'not', value, filter: { ...within, event: [value] } })),
    ...tag.map((value) => ({ name: 'tag', value, filter: { ...within, tag: [value] } })),
    ...(client === undefined ? [] : [{ name: 'mine', value: '1', filter: { ...within, client } }]),
  ].slice(0, MAX_PARTS);
};

/** A breakdown: a tag without a value is one whose values are counted. */
export const readBreakdown = (
  query: URLSearchParams,
  client: string | undefined,
  now: number,
): Asked<{ filter: RowFilter & { from: string }; tags: string[] }> => {
  const given = readFilter(query, client);
  if (isWrong(given)) return given;
  const all = given.value.tag ?? [];
  const tags = [...new Set(all.filter((tag) => !tag.includes('=')))];
  if (tags.length > MAX_TAGS) return wrong(`\`tag\` may name ${MAX_TAGS} tags`);
  const hours = readHourFilter(query, now);
  if (isWrong(hours)) return wrong(hours.wrong);
  const { from = hours.value.from, to } = given.value;
  if (Date.parse(to ?? hours.value.to) - Date.parse(from) > MAX_HOURS * 3_600_000)
    return wrong(`from \`from\` to \`to\` may be ${MAX_HOURS / 24} days at the most`);
  const tag = all.filter((one) => one.includes('='));
  return { value: { filter: { ...given.value, from, to, tag }, tags } };
};

const placeOf = (text: string): UsersPlace | undefined => {
  const place = parseJson(text);
  if (!Array.isArray(place) || place.length !== 2) return undefined;
  const isOne = [Number.isSafeInteger, (item: unknown) => typeof item === 'string'].some((is) =>
    place.every(is),
  );
  return isOne ? (place as UsersPlace) : undefined;
};

export const readUsers = (query: URLSearchParams): Asked<UserFilter> => {
  const span = readSpan(new URLSearchParams({ limit: query.get('limit') ?? '' }));
  if (isWrong(span)) return span;
  const [start, property] = ['start', 'tag'].map((name) => query.get(name) || undefined);
  if (start !== undefined && property !== undefined) return wrong('give `start` or `tag`');
  if ((start?.length ?? 0) > MAX_START) return wrong(`\`start\` may have ${MAX_START} characters`);
  const days = query.getAll('day').map((day) => (isDateTime(day) && isoTime(day)) || '');
  if (days.includes('')) return wrong('`day` must be a date-time of RFC 3339');
  if (days.length > MAX_DAYS) return wrong(`\`day\` may be given ${MAX_DAYS} times`);
  const after = query.get('after') || undefined;
  const place = after === undefined ? undefined : placeOf(after);
  if (after !== undefined && !place) return wrong('`after` must be the `next` of an answer');
  const project = query.get('project') || undefined;
  const limit = Math.max(1, Math.min(span.value.limit, MAX_USERS));
  return { value: { project, start, property, days: days.sort(), after: place, limit } };
};
