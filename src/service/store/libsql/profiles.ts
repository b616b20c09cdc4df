import type Database from 'libsql';
import type { Profile, RowFilter } from '../port.js';
import { readPlace } from '../profile-place.js';

interface StoredProfile extends Omit<Profile, 'properties'> {
  properties: string;
}

/** Reads profiles in the order of project and user. */
export const readProfiles = (
  database: Database.Database,
  { project, user_id }: Pick<RowFilter, 'project' | 'user_id'>,
  { after, limit }: { after?: string | undefined; limit: number },
): Profile[] => {
  const [afterProject, afterUser] = (after && readPlace(after)) || ['', ''];
  const rows = database
    .prepare<unknown[]>(
      `SELECT project, user_id, properties, created_at, updated_at FROM profiles
      WHERE (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR user_id = ?2)
        AND (project, user_id) > (?3, ?4)
      ORDER BY project, user_id LIMIT ?5`,
    )
    .all(project ?? null, user_id ?? null, afterProject, afterUser, limit) as StoredProfile[];
  return rows.map((row) => ({
    ...row,
    properties: JSON.parse(row.properties) as Record<string, unknown>,
  }));
};
