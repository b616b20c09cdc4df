import { quoted } from './schema.js';

/** The names of a store's tables, ready for a statement. */
export const tablesOf = (schema: string) => {
  const table = (name: string) => `${quoted(schema)}.${name}`;
  return {
    records: table('records'),
    counts: table('counts'),
    profiles: table('profiles'),
    refused: table('refused'),
  };
};

export type Tables = ReturnType<typeof tablesOf>;

/** A time as it goes into a statement: milliseconds. A leap second counts as the one before it, as `Date` has none. */
export const millisOf = (iso: string): number => Date.parse(iso.replace(/:60(?=[.Z+-])/i, ':59'));
export const isoOf = (millis: number): string => new Date(millis).toISOString();

/** Milliseconds to a time and back, in SQL. */
export const timeIn = (column: string): string => `to_timestamp(${column} / 1000)`;
export const timeOut = (column: string): string =>
  `round(extract(epoch FROM ${column}) * 1000)::float8 AS ${column}`;

/** Leaves out what is not there: a column has `null`. */
export const present = <Row extends object>(row: Row) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

/**
 * Rows as the values of a statement, and the table that `unnest` makes of them: each column is one array. It has the
 * column `n`, which counts the rows.
 */
export const unnest = (columns: Readonly<Record<string, 'text' | 'float8' | 'integer'>>) => {
  const names = Object.keys(columns);
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return {
    table: `unnest(${arrays.join(', ')}) WITH ORDINALITY AS given (${names.join(', ')}, n)`,
    valuesOf: (rows: readonly object[]): unknown[][] =>
      names.map((name) => rows.map((row) => (row as Record<string, unknown>)[name] ?? null)),
  };
};
