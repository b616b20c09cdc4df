import type { Profile, Store } from '../port.js';
import { PROFILE_LIMITS } from '../../profile-limit.js';
import { storableText } from '../storable.js';
import { isoOut, unnest, type Tables } from './columns.js';
import type { PostgresDatabase } from './database.js';
import { literal, lockOf } from './schema.js';

const { most, words } = PROFILE_LIMITS.properties;

/**
 * An expression that fails with the words of the bound, since they are no number. (Only functions can raise errors in
 * Postgres.) The count adds no text, but keeps Postgres from evaluating the expression when it plans the statement.
 */
const refuse = (count: string): string =>
  `(${literal(words)} || left((${count})::text, 0))::integer`;

/** An expression, unless the profile would have more properties than it may. */
const within = (expression: string, isBeyond: string, count: string): string =>
  `CASE WHEN ${isBeyond} THEN to_jsonb(${refuse(count)}) ELSE ${expression} END`;

/**
 * Merges rows of `source` into the profiles: a property replaces one that an earlier call has set. `source` has one row
 * for each user, with the columns of the table. A join finds the later properties; looking up each key in a large
 * profile takes five times as long.
 */
const mergeInto = ({ profiles }: Tables, source: string): string => {
  const later = (value: string) =>
    `coalesce(jsonb_object_agg(key, ${value}) FILTER (WHERE kept.at IS NULL OR named.at >= kept.at COLLATE "C"), '{}')`;
  const all = `(SELECT count(*) FROM jsonb_object_keys(p.properties)) + count(*) FILTER (WHERE kept.at IS NULL)`;
  const isBeyond = `count(*) FILTER (WHERE kept.at IS NULL) > 0 AND ${all} > ${most}`;
  return `
  INSERT INTO ${profiles} AS p (project, user_id, properties, set_at, created_at, updated_at)
  SELECT project, user_id,
    (SELECT ${within('source.properties', `count(*) > ${most}`, 'count(*)')}
      FROM jsonb_object_keys(source.properties)),
    set_at, created_at, updated_at
  FROM (${source}) AS source
  ON CONFLICT (project, user_id) DO UPDATE SET
    (properties, set_at) = (
      SELECT ${within(`p.properties || ${later('property.value')}`, isBeyond, all)}, p.set_at || ${later('named.at')}
      FROM jsonb_each(excluded.properties) AS property (key, value)
      JOIN jsonb_each_text(excluded.set_at) AS named (key, at) USING (key)
      LEFT JOIN jsonb_each_text(p.set_at) AS kept (key, at) USING (key)
    ),
    created_at = least(p.created_at, excluded.created_at),
    updated_at = greatest(p.updated_at, excluded.updated_at)`;
};

/**
 * Merges new identifies into the profiles: the rows of `fresh`, which have the columns of the table of records and
 * `properties`. The identifies of a user are first merged with each other.
 */
export const mergeIdentifies = (tables: Tables): string =>
  mergeInto(
    tables,
    `WITH identifies AS MATERIALIZED (
    SELECT project, user_id, seq, properties, received_at, ${isoOut('called_at')} AS called_at
    FROM fresh WHERE type = 'identify'
  )
  SELECT project, user_id, coalesce(properties, '{}') AS properties, coalesce(set_at, '{}') AS set_at,
    created_at, updated_at
  FROM (
    SELECT project, user_id, min(received_at) AS created_at, max(received_at) AS updated_at
    FROM identifies GROUP BY project, user_id
  ) AS users LEFT JOIN (
    SELECT project, user_id, jsonb_object_agg(key, value) AS properties,
      jsonb_object_agg(key, called_at) AS set_at
    FROM (
      SELECT DISTINCT ON (project, user_id, key) project, user_id, key, value, called_at
      FROM identifies, json_each(properties)
      ORDER BY project, user_id, key, called_at COLLATE "C" DESC, seq DESC
    ) AS latest GROUP BY project, user_id
  ) AS merged USING (project, user_id)`,
  ) + ' RETURNING project, user_id, pg_column_size(properties) AS size';

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
