import type { Profile, Store } from '../port.js';
import { storableText } from '../storable.js';
import { isoOut, unnest, type Tables } from './columns.js';
import type { PostgresDatabase } from './database.js';
import { lockOf } from './schema.js';

/**
 * Merges rows of `source` into the profiles: a property of theirs takes the place of one that an earlier call has set.
 * `source` has one row a user, in the columns of the table.
 */
const mergeInto = ({ profiles }: Tables, source: string): string => {
  const winners = (values: string) => `coalesce((
      SELECT jsonb_object_agg(key, ${values}) FROM jsonb_each(excluded.set_at)
      WHERE NOT p.set_at ? key OR value #>> '{}' >= (p.set_at ->> key) COLLATE "C"
    ), '{}')`;
  return `
  INSERT INTO ${profiles} AS p (project, user_id, properties, set_at, created_at, updated_at)
  ${source}
  ON CONFLICT (project, user_id) DO UPDATE SET
    properties = p.properties || ${winners('excluded.properties -> key')},
    set_at = p.set_at || ${winners('value')},
    created_at = least(p.created_at, excluded.created_at),
    updated_at = greatest(p.updated_at, excluded.updated_at)`;
};

/**
 * Merges new identifies into the profiles: the rows of `fresh`, which have the columns of the table of records and
 * `properties`. The first one of the merges is that of the identifies with each other.
 */
export const mergeIdentifies = (tables: Tables): string =>
  mergeInto(
    tables,
    `SELECT project, user_id, coalesce(properties, '{}'), coalesce(set_at, '{}'), first, last
  FROM (
    SELECT project, user_id, min(received_at) AS first, max(received_at) AS last
    FROM fresh WHERE type = 'identify' GROUP BY project, user_id
  ) AS users LEFT JOIN (
    SELECT project, user_id, jsonb_object_agg(key, value) AS properties,
      jsonb_object_agg(key, ${isoOut('called_at')}) AS set_at
    FROM (
      SELECT DISTINCT ON (project, user_id, key) project, user_id, key, value, called_at
      FROM fresh, json_each(properties) WHERE type = 'identify'
      ORDER BY project, user_id, key, called_at DESC, seq DESC
    ) AS latest GROUP BY project, user_id
  ) AS merged USING (project, user_id)`,
  );

const GIVEN = unnest({
  project: 'text',
  user_id: 'text',
  properties: 'text',
  set_at: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
});

export const createProfiles = (database: PostgresDatabase, tables: Tables, schema: string) => ({
  read: (async ({ project, user_id: user }, { after, limit }) => {
    const values: unknown[] = [];
    const value = (text: string | number) => `$${values.push(text)}`;
    const text = (given: string) => value(storableText(given));
    const where = [
      project !== undefined && `project = ${text(project)}`,
      user !== undefined && `user_id = ${text(user)}`,
      after && `(project, user_id) > (${text(after.project)}, ${text(after.user_id)})`,
    ].filter(Boolean);
    return database.read<Profile>({
      text: `SELECT project, user_id, properties, set_at, ${isoOut('created_at')} AS created_at,
          ${isoOut('updated_at')} AS updated_at
        FROM ${tables.profiles} ${where.length ? `WHERE ${where.join(' AND ')}` : ''}
        ORDER BY project, user_id LIMIT ${value(limit)}`,
      values,
    });
  }) satisfies Store['profiles'],

  /** Merges profiles of another store. */
  adopt: (profiles: readonly Profile[]): Promise<unknown> => {
    const rows = profiles.map((profile) => ({
      ...profile,
      properties: JSON.stringify(profile.properties),
      set_at: JSON.stringify(profile.set_at),
    }));
    const source = `SELECT project, user_id, properties::jsonb, set_at::jsonb, created_at, updated_at
      FROM turn, ${GIVEN.table}`;
    return database.write({
      text: `WITH turn AS MATERIALIZED (SELECT ${lockOf(schema, 'rows')}) ${mergeInto(tables, source)}`,
      values: GIVEN.valuesOf(rows),
    });
  },
});
