import { PROFILE_LIMITS } from '../../profile-limit.js';
import { SUMS } from '../hours.js';
import { passingTables, progressTables } from '../progress.js';
import type { PostgresDatabase } from './database.js';

/** Quotes a name for use in a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
/** Quotes a text for use in a statement, whatever a backslash means to the server. */
export const literal = (text: string): string => {
  const inQuotes = `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;
  return text.includes('\\') ? ` E${inQuotes}` : inQuotes;
};

/**
 * Takes a lock of this schema until the end of the transaction. One process writes rows at a time, so places appear in
 * their order, and no two processes wait for single rows of each other. One statement takes and releases the lock, so a
 * process that hangs cannot hold it.
 */
export const lockOf = (schema: string, what: 'rows' | 'refused' | 'schema'): string =>
  `pg_advisory_xact_lock(hashtext(${literal(schema)}), ${['rows', 'refused', 'schema'].indexOf(what)})`;

/**
 * Each step takes the tables of the version before it to the next one.
 *
 * `body` is `json`, not `jsonb`: it stays as it was sent, it costs less to write, and the text search sees the same
 * text as in the other engine. `user_id` has a hash index, which takes texts of any length.
 */
const STEPS: readonly ((schema: string) => string)[] = [
  (schema) => `
  CREATE TABLE ${schema}.records (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project text NOT NULL,
    type text NOT NULL,
    id text NOT NULL,
    channel text,
    event text,
    user_id text,
    body json NOT NULL,
    called_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    arrivals integer NOT NULL DEFAULT 1,
    client text,
    UNIQUE (project, type, id)
  );
  CREATE INDEX ON ${schema}.records USING hash (user_id) WHERE user_id IS NOT NULL;
  CREATE INDEX ON ${schema}.records (received_at);

  CREATE TABLE ${schema}.counts (
    project text NOT NULL,
    type text NOT NULL,
    rows bigint NOT NULL,
    PRIMARY KEY (project, type)
  ) WITH (fillfactor = 50);

  -- \`set_at\` has the milliseconds of the call that set each property.
  CREATE TABLE ${schema}.profiles (
    project text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    properties jsonb NOT NULL,
    set_at jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (project, user_id),
    CONSTRAINT ${quoted(PROFILE_LIMITS.characters.words)}
      CHECK (length(properties::text) <= ${PROFILE_LIMITS.characters.most})
  ) WITH (fillfactor = 80);

  -- \`record\` is the whole record of a dead one. It is text, since the database may refuse it as JSON.
  CREATE TABLE ${schema}.refused (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    received_at timestamptz NOT NULL,
    reason text NOT NULL,
    status integer NOT NULL,
    message text NOT NULL,
    id text,
    type text,
    project text,
    user_id text,
    body text,
    client text,
    record text
  );`,
  // An earlier version looks for the table under its old name, so its writes fail and its senders wait. `summing` has a
  // row while older rows are summed: places above `done` and up to `last` are not summed yet.
  (schema) => `
  ALTER TABLE ${schema}.counts RENAME TO row_counts;
  CREATE TABLE ${schema}.hours (
    hour timestamptz NOT NULL,
    project text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    event text COLLATE "C" NOT NULL,
    ${SUMS.map((name) => `${name} integer NOT NULL`).join(', ')},
    PRIMARY KEY (hour, project, channel, event)
  ) WITH (fillfactor = 50);
  CREATE TABLE ${schema}.summing (
    done bigint NOT NULL,
    last bigint NOT NULL,
    whole_from timestamptz NOT NULL
  );
  INSERT INTO ${schema}.summing
  SELECT 0, max(seq), (
    SELECT date_trunc('hour', max(received_at), 'UTC') + interval '1 hour' FROM ${schema}.records
  ) FROM ${schema}.records HAVING max(seq) IS NOT NULL;`,
  // `notify`: whether a row asks for a notification: true, or NULL.
  (schema) => `
  ALTER TABLE ${schema}.records ADD COLUMN notify boolean;
  ${progressTables((name) => `${schema}.${name}`)}`,
  // `sender`: a word for the address that has sent a row, if rows are passed on to another service.
  (schema) => `
  ALTER TABLE ${schema}.records ADD COLUMN sender text;
  ${passingTables((name) => `${schema}.${name}`)}`,
];

const newer = (schema: string, version: number): string =>
  `the schema ${schema} was made by a newer version of analytics-outbox (its data has version ${version}, this ` +
  `program knows ${STEPS.length}). Run the newer version, or name another database.`;

/** Makes the tables, or brings older ones up to date. Many processes may do so at once. */
export const migrate = (database: PostgresDatabase, schema: string): Promise<void> =>
  database.transaction(async (query) => {
    await query(`SELECT ${lockOf(schema, 'schema')}`);
    const ask = async <Value>(expression: string): Promise<Value> => {
      const { rows } = await query(`SELECT ${expression} AS value`);
      return (rows[0] as { value: Value }).value;
    };
    const encoding = await ask<string>(`current_setting('server_encoding')`);
    if (encoding !== 'UTF8') throw new Error(`its encoding is ${encoding}. It has to be UTF8.`);
    const name = quoted(schema);
    // Not `IF NOT EXISTS`, which needs the right to create schemas even if the schema is there.
    if (!(await ask<unknown>(`to_regnamespace(${literal(name)})`)))
      await query(`CREATE SCHEMA ${name}`);
    if (!(await ask<unknown>(`to_regclass(${literal(`${name}.version`)})`)))
      await query(`CREATE TABLE ${name}.version AS SELECT 0 AS version`);
    const found = await ask<number>(`(SELECT version FROM ${name}.version)`);
    if (found > STEPS.length) throw new Error(newer(schema, found));
    if (found === STEPS.length) return;
    for (const step of STEPS.slice(found)) await query(step(name));
    await query(`UPDATE ${name}.version SET version = ${STEPS.length}`);
  });
