import type Database from 'libsql';
import { openProfile, type Named, type OpenProfile, type ProfileTexts } from '../merge-profile.js';
import type { Profile, RowFilter, Written } from '../port.js';
import { LARGE_PROFILE } from '../../profile-limit.js';
import { storableText } from '../storable.js';

type Place = Pick<Profile, 'project' | 'user_id'>;
type Times = Pick<Profile, 'created_at' | 'updated_at'>;

interface Opened extends Place {
  profile: OpenProfile;
  /** There where the profile has changed. */
  times?: Times;
}

const keyOf = ({ project, user_id }: Place): string => JSON.stringify([project, user_id]);

/** The profiles. All but `read` and `inOnePiece` have to be called inside of `inOnePiece`. */
export const createProfiles = (database: Database.Database) => {
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);
  const select = prepare(
    'SELECT properties, set_at FROM profiles WHERE project = ? AND user_id = ?',
  );
  const put = prepare(`
    INSERT INTO profiles (project, user_id, properties, set_at, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (project, user_id) DO UPDATE
    SET properties = excluded.properties, set_at = excluded.set_at,
      created_at = min(created_at, excluded.created_at),
      updated_at = max(updated_at, excluded.updated_at)`);
  const remove = prepare('DELETE FROM profiles WHERE project = ? AND user_id = ?');
  const touches = prepare(`
    SELECT project, user_id, updated_at FROM profiles WHERE (project, user_id) > (?, ?)
    ORDER BY project, user_id LIMIT ?`);

  /** Profiles that this transaction has read. */
  const opened = new Map<string, Opened>();
  /** How far `removeBefore` has looked. */
  let seen: Place = { project: '', user_id: '' };

  const open = ({ project, user_id }: Place): Opened => {
    const key = keyOf({ project, user_id });
    const known = opened.get(key);
    if (known) return known;
    const [stored] = select.all(project, user_id) as ProfileTexts[];
    const one: Opened = { project, user_id, profile: openProfile(stored) };
    opened.set(key, one);
    return one;
  };

  return {
    /**
     * Does the work of a transaction, and writes each profile that it has changed, once: a large one costs as much to
     * write for one call as for many.
     */
    inOnePiece: <Result>(work: () => Result): Result => {
      try {
        const result = work();
        for (const { project, user_id, profile, times } of opened.values()) {
          if (!times) continue;
          const { properties, set_at } = profile.texts();
          put.run(project, user_id, properties, set_at, times.created_at, times.updated_at);
        }
        return result;
      } finally {
        opened.clear();
      }
    },
    /** Merges a call, or a profile of another store. One that would break a bound is dead. */
    merge: (call: Place & Named & Times): Written => {
      const one = open(call);
      const broken = one.profile.merge(call);
      if (broken !== undefined) return { outcome: 'dead', message: broken };
      const { created_at = call.created_at, updated_at = call.updated_at } = one.times ?? {};
      one.times = {
        created_at: created_at < call.created_at ? created_at : call.created_at,
        updated_at: updated_at > call.updated_at ? updated_at : call.updated_at,
      };
      const size = one.profile.size();
      return { outcome: 'stored', ...(size > LARGE_PROFILE && { profile: size }) };
    },
    remove: (place: Place): void => {
      opened.delete(keyOf(place));
      remove.run(place.project, place.user_id);
    },
    /**
     * Looks at the next so many profiles, and removes those that were not touched since. Few are touched at a time, so it
     * needs no index, which each identify would have to keep.
     */
    removeBefore: (time: string, limit: number): number => {
      const page = touches.all(seen.project, seen.user_id, limit) as (Place & Times)[];
      seen = page.length < limit ? { project: '', user_id: '' } : page.at(-1)!;
      const old = page.filter((one) => one.updated_at < time && !opened.get(keyOf(one))?.times);
      for (const { project, user_id } of old) remove.run(project, user_id);
      return old.length;
    },
    clear: (): void => {
      opened.clear();
      database.exec('DELETE FROM profiles');
    },
    /** Reads them in the order of project and user. Only what is asked for is in the query, so that the key finds it. */
    read: (
      { project, user_id }: Pick<RowFilter, 'project' | 'user_id'>,
      { after, limit }: { after?: Place | undefined; limit: number },
    ): Profile[] => {
      const conditions: (readonly [sql: string, ...values: string[]])[] = [];
      if (project !== undefined) conditions.push(['project = ?', storableText(project)]);
      if (user_id !== undefined) conditions.push(['user_id = ?', storableText(user_id)]);
      if (after) conditions.push(['(project, user_id) > (?, ?)', after.project, after.user_id]);
      const rows = prepare(
        `SELECT project, user_id, properties, set_at, created_at, updated_at FROM profiles
        WHERE ${conditions.map(([sql]) => sql).join(' AND ') || 'TRUE'}
        ORDER BY project, user_id LIMIT ?`,
      ).all(...conditions.flatMap(([, ...values]) => values), limit) as (Place &
        ProfileTexts &
        Times)[];
      return rows.map((row) => ({
        ...row,
        properties: JSON.parse(row.properties) as Record<string, unknown>,
        set_at: JSON.parse(row.set_at) as Record<string, string>,
      }));
    },
  };
};

export type Profiles = ReturnType<typeof createProfiles>;
