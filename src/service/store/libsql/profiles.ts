import type Database from 'libsql';
import type { Profile, RowFilter } from '../port.js';

interface StoredProfile extends Omit<Profile, 'properties' | 'set_at'> {
  properties: string;
  set_at: string;
}

/** Reads profiles in the order of project and user. */
export const readProfiles = (
  database: Database.Database,
  { project, user_id }: Pick<RowFilter, 'project' | 'user_id'>,
  { after, limit }: { after?: Pick<Profile, 'project' | 'user_id'> | undefined; limit: number },
): Profile[] => {
  const rows = database
    .prepare<unknown[]>(
      `SELECT project, user_id, properties, set_at, created_at, updated_at FROM profiles
      WHERE (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR user_id = ?2)
        AND (project, user_id) > (?3, ?4)
      ORDER BY project, user_id LIMIT ?5`,
    )
    .all(
      project ?? null,
      user_id ?? null,
      after?.project ?? '',
      after?.user_id ?? '',
      limit,
    ) as StoredProfile[];
  return rows.map((row) => ({
    ...row,
    properties: JSON.parse(row.properties) as Record<string, unknown>,
    set_at: JSON.parse(row.set_at) as Record<string, string>,
  }));
};
