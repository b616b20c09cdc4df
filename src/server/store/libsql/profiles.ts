import type Database from 'libsql';
import type { Profile, RowFilter } from '../port.js';
import { storableText } from '../storable.js';

interface StoredProfile extends Omit<Profile, 'properties' | 'set_at'> {
  properties: string;
  set_at: string;
}

/** Reads profiles in the order of project and user. Only what is asked for is in the query, so that the key finds it. */
export const readProfiles = (
  database: Database.Database,
  { project, user_id }: Pick<RowFilter, 'project' | 'user_id'>,
  { after, limit }: { after?: Pick<Profile, 'project' | 'user_id'> | undefined; limit: number },
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
    .all(...conditions.flatMap(([, ...values]) => values), limit) as StoredProfile[];
  return rows.map((row) => ({
    ...row,
    properties: JSON.parse(row.properties) as Record<string, unknown>,
    set_at: JSON.parse(row.set_at) as Record<string, string>,
  }));
};
