import type { Profile, Store } from '../port.js';
import { storableText } from '../storable.js';
import { isoOf, millisOf, timeIn, timeOut, unnest, type Tables } from './columns.js';
import type { PostgresDatabase } from './database.js';
import { lockOf } from './schema.js';

/**
 * Merges rows of `source` into the profiles: a property of theirs takes the place of one that an earlier call has set.
 * `source` has one row a user, in the columns of the table.
 */
const mergeInto = ({ profiles }: Tables, source: string): string => {
  const winners = (values: string) => `coalesce((
      SELECT jsonb_object_agg(key, ${values}) FROM jsonb_each(excluded.set_at)
      WHERE NOT p.set_at ? key OR value::numeric >= (p.set_at -> key)::numeric
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
      jsonb_object_agg(key, round(extract(epoch FROM called_at) * 1000)) AS set_at
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
  created_at: 'float8',
  updated_at: 'float8',
});

interface ProfileRow {
  project: string;
  user_id: string;
  properties: Record<string, unknown>;
  set_at: Record<string, number>;
  created_at: number;
  updated_at: number;
}

const mapValues = <From, To>(
  object: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Record<string, To> =>
  // `fromEntries` makes a key named `__proto__` an ordinary one.
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

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
    const rows = await database.read<ProfileRow>({
      text: `SELECT project, user_id, properties, set_at, ${timeOut('created_at')}, ${timeOut('updated_at')}
        FROM ${tables.profiles} ${where.length ? `WHERE ${where.join(' AND ')}` : ''}
        ORDER BY project, user_id LIMIT ${value(limit)}`,
      values,
    });
    return rows.map((row): Profile => ({
      ...row,
      set_at: mapValues(row.set_at, isoOf),
      created_at: isoOf(row.created_at),
      updated_at: isoOf(row.updated_at),
    }));
  }) satisfies Store['profiles'],

  /** Merges profiles of another store, and answers how many users are new. */
  adopt: async (profiles: readonly Profile[]): Promise<number> => {
    const rows = profiles.map((profile) => ({
      ...profile,
      properties: JSON.stringify(profile.properties),
      set_at: JSON.stringify(mapValues(profile.set_at, millisOf)),
      created_at: millisOf(profile.created_at),
      updated_at: millisOf(profile.updated_at),
    }));
    const source = `SELECT project, user_id, properties::jsonb, set_at::jsonb, ${timeIn('created_at')},
      ${timeIn('updated_at')} FROM turn, ${GIVEN.table}`;
    const isNew = await database.write({
      text: `WITH turn AS MATERIALIZED (SELECT ${lockOf(schema, 'rows')})
        -- A row that the statement has inserted was never locked or changed.
        , merged AS (${mergeInto(tables, source)} RETURNING p.xmax = 0 AS is_new)
        SELECT 1 FROM merged WHERE is_new`,
      values: GIVEN.valuesOf(rows),
    });
    return isNew.length;
  },
});
