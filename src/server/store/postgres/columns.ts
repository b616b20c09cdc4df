import { quoted } from './schema.js';

/** The name of a table, ready for a statement. */
export const tableOf = (schema: string, name: string): string => `${quoted(schema)}.${name}`;

/** The names of a store's tables, ready for a statement. */
export const tablesOf = (schema: string) => {
  const table = (name: string) => tableOf(schema, name);
  return {
    records: table('records'),
    counts: table('row_counts'),
    hours: table('hours'),
    summing: table('summing'),
    profiles: table('profiles'),
    refused: table('refused'),
    erasures: table('erasures'),
    targetDead: table('target_dead'),
    parked: table('parked'),
  };
};

export type Tables = ReturnType<typeof tablesOf>;

/** Expressions that read a place as a number, and a time as ISO 8601 in UTC with milliseconds. */
export const placeOut = (column = 'seq'): string => `${column}::float8 AS seq`;
export const isoOut = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Rows as the values of a statement, and the table that `unnest` makes of them: each column is one array. It has the
 * column `n`, which counts the rows.
 */
export const unnest = (
  columns: Readonly<Record<string, 'text' | 'timestamptz' | 'integer' | 'boolean'>>,
) => {
  const names = Object.keys(columns);
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return {
    table: `unnest(${arrays.join(', ')}) WITH ORDINALITY AS given (${names.join(', ')}, n)`,
    valuesOf: (rows: readonly object[]): unknown[][] =>
      names.map((name) => rows.map((row) => (row as Record<string, unknown>)[name] ?? null)),
  };
};
