import type { IdentifyBody } from '../../interface/bodies.js';
import { createValues, number, type Database, type Run } from './database.js';
import { openProfile, type Named, type OpenProfile, type ProfileTexts } from './merge-profile.js';
import type { Profile, RowFilter } from './port.js';
import type { Prepared, Reader, RefusedRow, Stretch } from './reader.js';
import { storableText } from './storable.js';

export type User = Pick<Profile, 'project' | 'user_id'>;
const keyOf = ({ project, user_id }: User): string => JSON.stringify([project, user_id]);
type Times = Pick<Profile, 'created_at' | 'updated_at'>;

/** An identify, or a profile of another store. */
type Call = User & Named & Times;

interface Opened extends User {
  profile: OpenProfile;
  /** Missing until a call has changed the profile. */
  times?: Times;
}

/** Characters of identifies and of their profiles that one step reads, unless the first identify alone has more. */
const STEP_CHARACTERS = 4 * 1_048_576;

const earlier = (a: string, b: string): string => (a < b ? a : b);
const later = (a: string, b: string): string => (a > b ? a : b);

/** Merges identifies into the profiles of their users. */
export const createProfiles = (database: Database) => {
  const { table, each, time, iso, jsonb, read, transaction } = database;
  const [records, profiles] = [table('records'), table('profiles')];
  const [erasures, readers] = [table('erasures'), table('readers')];

  // The rows of an erasure that is under way are gone soon, and with them the profile of before. They are not merged into
  // the profile that later identifies begin.
  const identifies = `FROM ${records} AS r
    WHERE r.seq > $1 AND r.seq <= $2 AND r.type = 'identify' AND NOT EXISTS (
      SELECT 1 FROM ${erasures} AS e
      WHERE e.is_done = 0 AND e.project = r.project AND e.user_id = r.user_id AND r.seq < e.upto)
    ORDER BY r.seq`;
  const sizeOf = (json: string) => `coalesce(length(CAST(${json} AS text)), 0)`;
  const sizes = `SELECT ${number('r.seq', 'seq')}, r.project, r.user_id,
      ${number(sizeOf('r.body'), 'size')} ${identifies}`;
  const bodies = `SELECT ${number('r.seq', 'seq')}, r.project, r.user_id,
      CAST(r.body AS text) AS body, ${iso('r.called_at')} AS called_at,
      ${iso('r.received_at')} AS received_at ${identifies}`;
  const ofUsers = (columns: string) => `
    SELECT p.project, p.user_id, ${columns} FROM ${each('$1')}
    JOIN ${profiles} AS p ON p.project = value->>0 AND p.user_id = value->>1`;
  const profileSizes = ofUsers(number(`${sizeOf('p.properties')} + ${sizeOf('p.set_at')}`, 'size'));
  const texts = ofUsers(
    'CAST(p.properties AS text) AS properties, CAST(p.set_at AS text) AS set_at',
  );
  const extreme = (column: string, sign: '<' | '>') =>
    `${column} = CASE WHEN excluded.${column} ${sign} profiles.${column} THEN excluded.${column}
      ELSE profiles.${column} END`;
  const put = `
    INSERT INTO ${profiles} (project, user_id, properties, set_at, created_at, updated_at)
    SELECT value->>0, value->>1, ${jsonb('value->>2')}, ${jsonb('value->>3')},
      ${time('value->>4')}, ${time('value->>5')}
    FROM ${each('$1')} WHERE TRUE ORDER BY key
    ON CONFLICT (project, user_id) DO UPDATE SET properties = excluded.properties,
      set_at = excluded.set_at, ${extreme('created_at', '<')}, ${extreme('updated_at', '>')}`;
  const keysOf = (users: Iterable<User>): string =>
    JSON.stringify([
      ...new Map([...users].map((one) => [keyOf(one), [one.project, one.user_id]])).values(),
    ]);

  /**
   * Opens the profiles of calls and merges them. Each profile is read and written once, since a large one costs as much
   * to write for one call as for many.
   */
  const merge = async (run: Run, calls: readonly Call[], isBounded: boolean) => {
    const stored = await run<User & ProfileTexts>(texts, keysOf(calls));
    const storedTexts = new Map(stored.map((one) => [keyOf(one), one]));
    const opened = new Map<string, Opened>();
    /** In words why a call is left out, by its index. */
    const broken = new Map<number, string>();
    for (const [index, call] of calls.entries()) {
      const { project, user_id, created_at, updated_at } = call;
      const key = keyOf(call);
      const one: Opened = opened.get(key) ?? {
        ...{ project, user_id, profile: openProfile(storedTexts.get(key)) },
      };
      opened.set(key, one);
      const words = one.profile.merge(call, isBounded);
      if (words !== undefined) broken.set(index, words);
      else {
        one.times = {
          created_at: earlier(created_at, one.times?.created_at ?? created_at),
          updated_at: later(updated_at, one.times?.updated_at ?? updated_at),
        };
      }
    }
    const changed = [...opened.values()].flatMap(({ project, user_id, profile, times }) => {
      if (!times) return [];
      const { properties, set_at } = profile.texts();
      return [[project, user_id, properties, set_at, times.created_at, times.updated_at]];
    });
    return { changed: changed.length ? JSON.stringify(changed) : undefined, broken };
  };

  /** The place before which the identifies and their profiles are not too large for one step. */
  const bound = async (run: Run, { place, upto }: Stretch): Promise<number | undefined> => {
    const rows = await run<User & { seq: number; size: number }>(sizes, place, upto);
    if (!rows.length) return undefined;
    const kept = await run<User & { size: number }>(profileSizes, keysOf(rows));
    const ofProfile = new Map(kept.map((one) => [keyOf(one), one.size]));
    let sum = 0;
    for (const [index, row] of rows.entries()) {
      const key = keyOf(row);
      sum += row.size + (ofProfile.get(key) ?? 0);
      ofProfile.delete(key);
      if (sum > STEP_CHARACTERS && index) return row.seq - 1;
    }
    return upto;
  };
  const prepare = async (run: Run, { place, upto }: Stretch): Promise<Prepared> => {
    const end = await bound(run, { place, upto });
    if (end === undefined) return { upto, refused: [] };
    type Identify = User & { seq: number; body: string; called_at: string; received_at: string };
    const rows = await run<Identify>(bodies, place, end);
    const calls = rows.map(({ project, user_id, body, called_at, received_at }): Call => {
      const { properties } = JSON.parse(body) as IdentifyBody;
      const times = { created_at: received_at, updated_at: received_at };
      return { project, user_id, properties, set_at: called_at, ...times };
    });
    const { changed, broken } = await merge(run, calls, true);
    return {
      upto: end,
      apply:
        changed === undefined ? undefined : async (inside) => void (await inside(put, changed)),
      refused: [...broken].map(([index, words]): RefusedRow => [rows[index]!.seq, words]),
    };
  };

  /** How far `expire` has looked. */
  let seen: User = { project: '', user_id: '' };
  const page = `SELECT project, user_id FROM ${profiles} WHERE (project, user_id) > ($1, $2)
    ORDER BY project, user_id LIMIT CAST($3 AS integer)`;
  // A profile stays whose identify is not merged yet.
  const expire = `
    DELETE FROM ${profiles} WHERE updated_at < ${time('$1')}
      AND (project, user_id) > ($2, $3) AND (project, user_id) <= ($4, $5)
      AND NOT EXISTS (
        SELECT 1 FROM ${records} AS r WHERE r.type = 'identify' AND r.project = profiles.project
          AND r.user_id = profiles.user_id
          AND r.seq > (SELECT place FROM ${readers} WHERE name = 'profiles'))
    RETURNING project`;

  return {
    prepare,
    /** Merges profiles of another store. Rejects if the database refuses one of them. */
    adopt: (all: readonly Profile[], reader: Reader): Promise<void> =>
      transaction(async (run) => {
        await reader.take(run);
        const { changed } = await merge(run, all, false);
        if (changed !== undefined) await run(put, changed);
      }),
    remove: (run: Run, { project, user_id }: User) =>
      run(`DELETE FROM ${profiles} WHERE project = $1 AND user_id = $2`, project, user_id),
    /**
     * Looks at the next profiles, at most `limit`, and deletes the old ones. Few are old at a time, so it needs no index,
     * which each identify would have to keep.
     */
    expire: (before: string, limit: number, reader: Reader): Promise<number> =>
      transaction(async (run) => {
        await reader.take(run);
        const from = seen;
        const users = await run<User>(page, from.project, from.user_id, limit);
        const to = users.at(-1);
        seen = to && users.length === limit ? to : { project: '', user_id: '' };
        if (!to) return 0;
        const span = [from.project, from.user_id, to.project, to.user_id];
        return (await run(expire, before, ...span)).length;
      }),
    /** Profiles of users, those that have one. */
    ofUsers: async (users: readonly User[]): Promise<(User & Pick<Profile, 'properties'>)[]> => {
      const found = await read<User & ProfileTexts>(texts, keysOf(users));
      return found.map(({ project, user_id, properties }) => ({
        ...{ project, user_id },
        properties: JSON.parse(properties) as Profile['properties'],
      }));
    },
    /** Reads profiles in the order of project and user. */
    read: async (
      { project, user_id }: Pick<RowFilter, 'project' | 'user_id'>,
      { after, limit }: { after?: User | undefined; limit: number },
    ): Promise<Profile[]> => {
      // Only the fields that are asked for are named, so that the primary key finds them.
      const { values, value } = createValues();
      const text = (given: string) => value(storableText(given));
      const where = [
        project !== undefined && `project = ${text(project)}`,
        user_id !== undefined && `user_id = ${text(user_id)}`,
        after && `(project, user_id) > (${text(after.project)}, ${text(after.user_id)})`,
      ].filter(Boolean);
      const rows = await read<User & ProfileTexts & Times>(
        `SELECT project, user_id, CAST(properties AS text) AS properties,
          CAST(set_at AS text) AS set_at, ${iso('created_at')} AS created_at,
          ${iso('updated_at')} AS updated_at
        FROM ${profiles} ${where.length ? `WHERE ${where.join(' AND ')}` : ''}
        ORDER BY project, user_id LIMIT ${value(limit)}`,
        ...values,
      );
      return rows.map((row) => ({
        ...row,
        properties: JSON.parse(row.properties) as Record<string, unknown>,
        set_at: JSON.parse(row.set_at) as Record<string, string>,
      }));
    },
  };
};
