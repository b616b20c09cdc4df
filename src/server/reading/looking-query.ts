import type { RowFilter, UserFilter, UsersPlace } from '../store/port.js';
import {
  check,
  checkHours,
  isString,
  readFilter,
  readHourFilter,
  readLimit,
  readPair,
  timeOf,
} from './query.js';

/** How long rows are looked through for one answer, and for the first rows of a page. */
export const [LOOK_MS, FIRST_LOOK_MS] = [1_400, 700];
/** Parts of a filter that are counted one by one, and tags whose values are counted. */
export const [MAX_PARTS, MAX_TAGS] = [20, 5];
/** Users in one answer, and ends of days. */
export const [MAX_USERS, MAX_DAYS] = [100, 32];
/** Characters of the beginning of an id. */
export const MAX_START = 1_024;

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
): { filter: RowFilter & { from: string }; tags: string[] } => {
  const given = readFilter(query, client);
  const all = given.tag ?? [];
  const tags = [...new Set(all.filter((tag) => !tag.includes('=')))];
  check(tags.length <= MAX_TAGS, `\`tag\` may name ${MAX_TAGS} tags`);
  const hours = readHourFilter(query, now);
  const { from = hours.from, to } = given;
  checkHours(Date.parse(from), Date.parse(to ?? hours.to));
  const tag = all.filter((one) => one.includes('='));
  return { filter: { ...given, from, to, tag }, tags };
};

export const readUsers = (query: URLSearchParams): UserFilter => {
  const limit = Math.max(1, readLimit(query, MAX_USERS));
  const [start, property] = ['start', 'tag'].map((name) => query.get(name) || undefined);
  check(start === undefined || property === undefined, 'give `start` or `tag`');
  check((start?.length ?? 0) <= MAX_START, `\`start\` may have ${MAX_START} characters`);
  const days = query.getAll('day').map((day) => timeOf(day, 'day'));
  check(days.length <= MAX_DAYS, `\`day\` may be given ${MAX_DAYS} times`);
  const after = readPair<UsersPlace>(query, Number.isSafeInteger, isString);
  const project = query.get('project') || undefined;
  return { project, start, property, days: days.sort(), after, limit };
};
