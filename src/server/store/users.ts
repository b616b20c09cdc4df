import { createValues, number, type Database } from './database.js';
import { memberTexts, readMember } from './member.js';
import type { Looked, Profile, SeenUser, SeenUsers, UserFilter, UsersPlace } from './port.js';
import type { createProfiles, User } from './profiles.js';
import type { createRowReader } from './rows.js';
import type { Steps } from './steps.js';
import { storableText } from './storable.js';
import type { Sums } from './sums.js';

/** Rows of a user that are counted, and the newest of them by which days are. */
const [MAX_ROWS, MAX_DAY_ROWS] = [10_000, 2_000];
/** Properties of a profile that a list shows: these before others, which come in the order of their names. */
const SHOWN = 2;
const FIRST = ['plan', 'name', 'email'];

/** The text with the highest place behind all texts that begin with this one. */
const endOf = (start: string): string => `${start}\u{10ffff}`;

const shownOf = (properties: Profile['properties']): Record<string, string> => {
  const rank = (name: string) => (FIRST.indexOf(name) + 1 || FIRST.length + 1) + name;
  const names = Object.keys(properties).filter((name) => typeof properties[name] !== 'object');
  const chosen = names.sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, SHOWN);
  return Object.fromEntries(
    chosen.map((name) => [name, readMember(`s${String(properties[name])}`).value]),
  );
};

interface Parts {
  database: Database;
  steps: Steps;
  reader: ReturnType<typeof createRowReader>;
  sums: Pick<Sums, 'counts'>;
  profiles: Pick<ReturnType<typeof createProfiles>, 'ofUsers'>;
  lastPlace: () => Promise<number>;
}

/**
 * Lists users from the rows themselves, by who was here last. A list is a snapshot: a user stands where the last row
 * before its start stands, so nobody is missed or shown twice while others write.
 */
export const createUsers = ({ database, steps, reader, sums, profiles, lastPlace }: Parts) => {
  const { table, time, iso, indexed, members, memberValue, read } = database;
  const records = table('records');
  const ofUser = (
    alias: string,
    project: string,
    user: string,
  ) => `${records} AS ${alias} ${indexed('user')}
    WHERE ${alias}.project = ${project} AND ${alias}.user_id = ${user}`;

  /** A condition on the profile of a row's user. */
  const hasProperty = (property: string, value: (value: unknown) => string): string => {
    const [name, wanted] = [property.replace(/=.*/s, ''), property.match(/=(.*)/s)?.[1]];
    const texts = wanted === undefined ? [] : memberTexts(storableText(wanted));
    const isWanted = texts.length ? `AND ${memberValue} IN (${texts.map(value).join(', ')})` : '';
    return `EXISTS (SELECT 1 FROM ${table('profiles')} AS p, ${members('p.properties')}
      WHERE p.project = r.project AND p.user_id = r.user_id
        AND one.key = ${value(storableText(name))} ${isWanted})`;
  };

  /** Users whose last row up to the top is before a place, the latest first. */
  const findLast = async (
    { project, property, limit }: UserFilter,
    [top, from]: readonly [top: number, before: number],
    ms: number,
  ): Promise<{ found: User[]; looked: Looked }> => {
    const found: (User & { seq: number })[] = [];
    const looked: Looked = { place: 0, is_all: true };
    const way = { before: from, newest: true, rests: true, ms };
    for await (const { after, before, isLast } of steps.steps(way)) {
      const { values, value } = createValues();
      const conditions = [
        'r.user_id IS NOT NULL',
        ...(project === undefined ? [] : [`r.project = ${value(storableText(project))}`]),
        `r.seq > ${value(after)} AND r.seq < ${value(before)}`,
        `NOT EXISTS (SELECT 1 FROM ${ofUser('later', 'r.project', 'r.user_id')}
          AND later.seq > r.seq AND later.seq <= ${value(top)})`,
        ...(property === undefined ? [] : [hasProperty(property, value)]),
      ];
      found.push(
        ...(await read<User & { seq: number }>(
          `SELECT ${number('r.seq', 'seq')}, r.project, r.user_id
          FROM ${records} AS r ${indexed(undefined)} WHERE ${conditions.join(' AND ')}
          ORDER BY r.seq DESC LIMIT ${value(limit - found.length)}`,
          ...values,
        )),
      );
      Object.assign(looked, { place: after + 1, is_all: isLast });
      if (found.length < limit) continue;
      Object.assign(looked, { place: found.at(-1)!.seq, is_all: false });
      break;
    }
    return { found, looked: { ...looked, since: await reader.sinceOf(looked.place) } };
  };

  /** Steps from one user to the next, and over all their rows, however many these are. */
  const findNext = (project: string, above: string, start: string, limit: number) => {
    const next = (
      condition: string,
    ) => `(SELECT min(r.user_id) FROM ${records} AS r ${indexed('user')}
      WHERE r.project = $1 AND ${condition} AND r.user_id >= $3 AND r.user_id < $4)`;
    return read<User>(
      `WITH RECURSIVE found (user_id, n) AS (
        SELECT ${next('r.user_id > $2')}, 1
        UNION ALL SELECT ${next('r.user_id > found.user_id')}, n + 1
        FROM found WHERE found.user_id IS NOT NULL AND n < CAST($5 AS integer)
      ) SELECT CAST($1 AS text) AS project, user_id FROM found WHERE user_id IS NOT NULL`,
      ...[project, above, start, endOf(start), limit],
    );
  };
  /** Users in the order of projects and ids. */
  const findByStart = async (filter: UserFilter, start: string, after: UsersPlace | undefined) => {
    const [at, above] = typeof after?.[0] === 'string' ? (after as [string, string]) : ['', ''];
    const asked = filter.project === undefined ? undefined : storableText(filter.project);
    const known = new Set((await sums.counts()).map(({ project }) => project));
    const found: User[] = [];
    for (const project of [...known].sort()) {
      if ((asked !== undefined && project !== asked) || project < at) continue;
      if (found.length >= filter.limit) break;
      const from = project === at ? above : '';
      found.push(...(await findNext(project, from, start, filter.limit - found.length)));
    }
    return found;
  };

  /** What the rows of a user say. */
  const rowsOf = async (user: User, days: readonly string[]) => {
    const { values, value } = createValues([user.project, user.user_id]);
    const cases = days.map((day, at) => `WHEN r.received_at < ${time(value(day))} THEN ${at - 1}`);
    const day = days.length ? `CASE ${cases.join(' ')} ELSE ${days.length} END` : '-1';
    const newest = `SELECT r.seq, r.received_at, ${day} AS day
      FROM ${ofUser('r', '$1', '$2')} ORDER BY r.seq DESC LIMIT ${MAX_DAY_ROWS}`;
    type Day = { day: number; rows: number; since: string; last: number; last_seen: string };
    const found = await read<Day>(
      `SELECT day, ${number('count(*)', 'rows')}, ${iso('min(received_at)')} AS since,
        ${number('max(seq)', 'last')}, ${iso('max(received_at)')} AS last_seen
      FROM (${newest}) AS newest GROUP BY day`,
      ...values,
    );
    const [counted] = await read<{ rows: number }>(
      `SELECT ${number('count(*)', 'rows')} FROM (
        SELECT 1 FROM ${ofUser('r', '$1', '$2')} LIMIT ${MAX_ROWS}) AS rows`,
      ...values.slice(0, 2),
    );
    const isWhole = found.reduce((sum, { rows }) => sum + rows, 0) < MAX_DAY_ROWS;
    const since = found.map((one) => one.since).sort()[0] ?? '';
    const countOf = (at: number): number | null =>
      isWhole || days[at]! > since ? (found.find((one) => one.day === at)?.rows ?? 0) : null;
    return {
      last_seen: found.sort((a, b) => b.last - a.last)[0]?.last_seen,
      rows: counted!.rows,
      days: days.slice(1).map((_, at) => countOf(at)),
    };
  };
  const describe = async (found: readonly User[], days: readonly string[]) => {
    const known = new Map(
      (await profiles.ofUsers(found)).map((one) => [
        JSON.stringify([one.project, one.user_id]),
        one,
      ]),
    );
    const users: SeenUser[] = [];
    for (const { project, user_id } of found) {
      const profile = known.get(JSON.stringify([project, user_id]));
      const { last_seen, ...rows } = await steps.inTurn(() => rowsOf({ project, user_id }, days));
      // The rows may have been erased since they were found.
      if (last_seen === undefined) continue;
      users.push({
        ...{ project, user_id, last_seen, ...rows },
        ...(profile && { properties: shownOf(profile.properties) }),
      });
    }
    return users;
  };

  return async (filter: UserFilter, ms: number): Promise<SeenUsers> => {
    const { start, after, limit, days } = filter;
    if (start) {
      const found = await findByStart(filter, storableText(start), after);
      const last = found.length >= limit && found.at(-1);
      const users = await describe(found, days);
      return { users, ...(last && { next: [last.project, last.user_id] }) };
    }
    const [top, before] =
      typeof after?.[0] === 'number' ? (after as [number, number]) : [await lastPlace(), undefined];
    const { found, looked } = await findLast(filter, [top, before ?? top + 1], ms);
    const users = await describe(found, days);
    return { users, looked, ...(!looked.is_all && { next: [top, looked.place] }) };
  };
};
