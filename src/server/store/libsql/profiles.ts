import type Database from 'libsql';
import { LARGE_PROFILE } from '../../profile-limit.js';
import { openProfile, type Named, type OpenProfile, type ProfileTexts } from '../merge-profile.js';
import type { Profile, RowFilter } from '../port.js';
import { storableText } from '../storable.js';
import { userOf } from '../write-records.js';
import type { Writer } from './connections.js';

type Place = Pick<Profile, 'project' | 'user_id'>;
type Times = Pick<Profile, 'created_at' | 'updated_at'>;

/** An identify, or a profile of another store. */
export type ProfileCall = Place & Named & Times;

interface Opened extends Place {
  profile: OpenProfile;
  /** Missing until a call has changed the profile. */
  times?: Times;
}

/** What became of the calls that were merged. */
export interface Merged {
  /** The calls that would break a bound, by their index, with its words. */
  refused: ReadonlyMap<number, string>;
  /** The sizes of large profiles, by project and user. */
  large: ReadonlyMap<string, number>;
}

const earlier = (a: string, b: string): string => (a < b ? a : b);
const later = (a: string, b: string): string => (a > b ? a : b);

/** Writes profiles. Its methods have to be called inside a transaction. */
export const createProfileWriter = ({ prepare, prepareChange }: Writer) => {
  // All values are one text, so that the statement is the same for any number of profiles.
  const select = prepare(`
    SELECT p.project, p.user_id, p.properties, p.set_at FROM json_each(?) AS given
    JOIN profiles AS p ON p.project = given.value->>0 AND p.user_id = given.value->>1`);
  const put = prepare(`
    INSERT INTO profiles (project, user_id, properties, set_at, created_at, updated_at)
    SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5
    FROM json_each(?) WHERE TRUE ON CONFLICT (project, user_id) DO UPDATE
    SET properties = excluded.properties, set_at = excluded.set_at,
      created_at = min(created_at, excluded.created_at),
      updated_at = max(updated_at, excluded.updated_at)`);
  const remove = prepareChange('DELETE FROM profiles WHERE project = ? AND user_id = ?');
  const nextPage = prepare(`
    SELECT project, user_id FROM profiles WHERE (project, user_id) > (?, ?)
    ORDER BY project, user_id LIMIT ?`);
  const removeOld = prepareChange(`
    DELETE FROM profiles WHERE updated_at < ? AND (project, user_id) > (?, ?)
      AND (project, user_id) <= (?, ?)`);

  /** How far `removeBefore` has looked. */
  let seen: Place = { project: '', user_id: '' };

  const open = async (calls: readonly ProfileCall[]): Promise<ReadonlyMap<string, Opened>> => {
    const places = new Map(
      calls.map(({ project, user_id }) => {
        const place = { project, user_id };
        return [userOf(place), place];
      }),
    );
    const keys = [...places.values()].map(({ project, user_id }) => [project, user_id]);
    const stored = await select<Place & ProfileTexts>(JSON.stringify(keys));
    const texts = new Map(stored.map((one) => [userOf(one), one]));
    return new Map(
      [...places].map(([key, place]) => [key, { ...place, profile: openProfile(texts.get(key)) }]),
    );
  };

  return {
    /**
     * Merges calls into their profiles. Each profile is read and written once, since a large one costs as much to write for
     * one call as for many.
     */
    merge: async (calls: readonly ProfileCall[]): Promise<Merged> => {
      const refused = new Map<number, string>();
      const large = new Map<string, number>();
      if (!calls.length) return { refused, large };
      const opened = await open(calls);
      for (const [index, call] of calls.entries()) {
        const one = opened.get(userOf(call))!;
        const broken = one.profile.merge(call);
        if (broken !== undefined) {
          refused.set(index, broken);
          continue;
        }
        const { created_at, updated_at } = one.times ?? call;
        one.times = {
          created_at: earlier(created_at, call.created_at),
          updated_at: later(updated_at, call.updated_at),
        };
      }
      const changed: string[][] = [];
      for (const [key, { project, user_id, profile, times }] of opened) {
        if (!times) continue;
        const { properties, set_at } = profile.texts();
        changed.push([project, user_id, properties, set_at, times.created_at, times.updated_at]);
        if (profile.size() > LARGE_PROFILE) large.set(key, profile.size());
      }
      if (changed.length) await put(JSON.stringify(changed));
      return { refused, large };
    },
    remove: ({ project, user_id }: Place): Promise<number> => remove(project, user_id),
    /**
     * Looks at the next profiles, at most `limit`, and removes the old ones. Few are old at a time, so it needs no index,
     * which each identify would have to keep.
     */
    removeBefore: async (time: string, limit: number): Promise<number> => {
      const page = await nextPage<Place>(seen.project, seen.user_id, limit);
      const from = seen;
      const to = page.at(-1);
      seen = to && page.length === limit ? to : { project: '', user_id: '' };
      return to ? removeOld(time, from.project, from.user_id, to.project, to.user_id) : 0;
    },
  };
};

export type ProfileWriter = ReturnType<typeof createProfileWriter>;

/**
 * Reads profiles in the order of project and user. The query names only the fields that are asked for, so that the
 * primary key finds them.
 */
export const readProfiles = (
  database: Database.Database,
  { project, user_id }: Pick<RowFilter, 'project' | 'user_id'>,
  { after, limit }: { after?: Place | undefined; limit: number },
): Profile[] => {
  const conditions: (readonly [sql: string, ...values: string[]])[] = [];
  if (project !== undefined) conditions.push(['project = ?', storableText(project)]);
  if (user_id !== undefined) conditions.push(['user_id = ?', storableText(user_id)]);
  if (after) conditions.push(['(project, user_id) > (?, ?)', after.project, after.user_id]);
  const rows = database
    .prepare<unknown[]>(
      `SELECT project, user_id, properties, set_at, created_at, updated_at FROM profiles
      WHERE ${conditions.map(([sql]) => sql).join(' AND ') || 'TRUE'}
      ORDER BY project, user_id LIMIT ?`,
    )
    .all(...conditions.flatMap(([, ...values]) => values), limit) as (Place &
    ProfileTexts &
    Times)[];
  return rows.map((row) => ({
    ...row,
    properties: JSON.parse(row.properties) as Record<string, unknown>,
    set_at: JSON.parse(row.set_at) as Record<string, string>,
  }));
};
