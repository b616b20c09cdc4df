import { anyCase } from '../any-case.js';
import type { Dialect } from '../database.js';
import { MAX_VALUE } from '../member.js';
import type { Types } from '../schema.js';

/** Quotes a name for use in a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
/** Quotes a text for use in a statement, whatever a backslash means to the server. */
export const literal = (text: string): string => {
  const inQuotes = `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;
  return text.includes('\\') ? ` E${inQuotes}` : inQuotes;
};

/**
 * Takes a lock of this schema until the end of the transaction. A statement that only stores takes and releases it, so
 * a process that hangs cannot hold it.
 */
export const lockOf = (schema: string, what: 'rows' | 'refused' | 'schema'): string =>
  `pg_advisory_xact_lock(hashtext(${literal(schema)}), ${['rows', 'refused', 'schema'].indexOf(what)})`;

/**
 * A regular expression that finds the text as JSON writes it, whatever its case. All characters except letters and
 * digits are written as numeric escapes, so that none has a special meaning.
 */
const patternOf = (text: string): string =>
  anyCase(JSON.stringify(text).slice(1, -1))
    .map((forms) => {
      const escaped = forms.map((form) =>
        /[\p{L}\p{N}]/u.test(form)
          ? form
          : `\\U${form.codePointAt(0)!.toString(16).padStart(8, '0')}`,
      );
      return escaped.length > 1 ? `[${escaped.join('')}]` : escaped[0]!;
    })
    .join('');

const isoOf = (time: string): string =>
  `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const postgresDialect = (schema: string): Dialect => {
  const sequence = `${quoted(schema)}.records_seq_seq`;
  return {
    table: (name) => `${quoted(schema)}.${name}`,
    each: (parameter, name = 'given') =>
      `jsonb_array_elements(CAST(${parameter} AS jsonb)) WITH ORDINALITY AS ${name} (value, key)`,
    texts: (parameter) => `json_array_elements_text(CAST(${parameter} AS json)) AS texts (value)`,
    turn: (what = 'rows') => `turn AS MATERIALIZED (SELECT ${lockOf(schema, what)})`,
    lock: 'FOR UPDATE',
    lockIfFree: 'FOR UPDATE SKIP LOCKED',
    time: (text) => `CAST(${text} AS timestamptz)`,
    json: (text) => `CAST(${text} AS json)`,
    jsonb: (text) => `CAST(${text} AS jsonb)`,
    iso: isoOf,
    ms: (time) => `CAST(round(extract(epoch FROM ${time}) * 1000) AS bigint)`,
    hour: (time) => `date_trunc('hour', ${time}, 'UTC')`,
    isoHour: isoOf,
    now: `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)`,
    has: (json, text) => `strpos(CAST(${json} AS text), ${text}) > 0`,
    matches: (json, pattern) => `CAST(${json} AS text) ~ ${pattern}`,
    pattern: patternOf,
    indexed: () => '',
    members: (json, member) => {
      const object = `CAST(${json} AS json)${member ? ` -> '${member}'` : ''}`;
      return `json_each(CASE json_typeof(${object}) WHEN 'object' THEN ${object} END) AS one (key, value)`;
    },
    memberValue: `CASE json_typeof(one.value) WHEN 'string' THEN 's' WHEN 'number' THEN 'n'
        WHEN 'object' THEN 'o' WHEN 'array' THEN 'o' ELSE 'l' END
      || left(coalesce(one.value #>> '{}', 'null'), ${MAX_VALUE + 1})`,
    pairs: (one, other) => `CAST(json_agg(json_build_array(${one}, ${other})) AS text)`,
    numbers: (column) => `CAST(json_agg(${column}) AS text)`,
    lastPlace: `SELECT CASE WHEN is_called THEN CAST(last_value AS double precision) ELSE 0 END AS place
      FROM ${sequence}`,
    nextPlace: [
      `WITH turn AS MATERIALIZED (SELECT ${lockOf(schema, 'rows')})
      SELECT CAST(nextval(${literal(sequence)}) AS double precision) AS place FROM turn`,
    ],
  };
};

/**
 * `body` is `json`, not `jsonb`: it stays as it was sent, it costs less to write, and the text search sees the same
 * text as in the other engine. The index of users leads to the last row of each, and
 * to ids with the same beginning.
 */
export const postgresTypes = (schema: string): Types => ({
  seq: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  time: 'timestamptz',
  json: 'json',
  jsonb: 'jsonb',
  key: 'text COLLATE "C"',
  hot: 'WITH (fillfactor = 50)',
  userIndex: `CREATE INDEX rows_of_user ON ${quoted(schema)}.records (project, user_id, seq)
    WHERE user_id IS NOT NULL`,
});
