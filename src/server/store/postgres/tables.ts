import { newTables, upgrade, VERSION } from '../schema.js';
import type { Connections } from './connections.js';
import { literal, lockOf, postgresDialect, postgresTypes, quoted } from './dialect.js';

const upgradeFrom = (version: number, schema: string): string => {
  const dialect = postgresDialect(schema);
  const types = postgresTypes(schema);
  const { table } = dialect;
  return `
  ${version < 2 ? `ALTER TABLE ${table('counts')} RENAME TO row_counts;` : ''}
  ALTER TABLE ${table('refused')} ADD COLUMN
    size integer NOT NULL GENERATED ALWAYS AS (coalesce(length(record), 0)) STORED;
  ${upgrade(version, dialect, types)}
  DROP INDEX ${table('records_user_id_idx')};
  ALTER TABLE ${table('records')} ALTER COLUMN user_id TYPE ${types.key};
  ${types.userIndex};`;
};

const newer = (schema: string, version: number): string =>
  `the schema ${schema} was made by a newer version of analytics-outbox (its data has version ${version}, this ` +
  `program knows ${VERSION}). Run the newer version, or name another database.`;

/** Makes the tables, or brings older ones up to date. Many processes may do so at once. */
export const migrate = ({ longTransaction }: Connections, schema: string): Promise<void> =>
  longTransaction(async (query) => {
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
    if (found > VERSION) throw new Error(newer(schema, found));
    if (found === VERSION) return;
    const types = postgresTypes(schema);
    await query(found ? upgradeFrom(found, schema) : newTables(postgresDialect(schema), types));
    await query(`UPDATE ${name}.version SET version = ${VERSION}`);
  });
