import { anyCase } from '../any-case.js';
import type { Dialect } from '../database.js';
import { MAX_VALUE } from '../member.js';
import type { Types } from '../schema.js';

/**
 * Text as it stands in the JSON of a body, whatever its case. SQLite's `lower` and LIKE know that of ASCII letters
 * alone. https://www.sqlite.org/lang_expr.html#the_like_glob_regexp_match_and_extract_operators
 */
const globOf = (text: string): string => {
  const letters = anyCase(JSON.stringify(text).slice(1, -1)).map((forms) =>
    // In brackets, what GLOB takes for more than itself stands for itself.
    forms.length > 1 || /[*?[]/.test(forms[0]!) ? `[${forms.join('')}]` : forms[0]!,
  );
  return `*${letters.join('')}*`;
};

/** Times are texts, and an hour is the beginning of one. A transaction that writes has the only lock of the file. */
export const SQLITE: Dialect = {
  table: (name) => name,
  each: (parameter, name = 'given') => `json_each(${parameter}) AS ${name}`,
  texts: (parameter) => `json_each(${parameter})`,
  turn: () => 'turn AS MATERIALIZED (SELECT 1)',
  lock: '',
  lockIfFree: '',
  time: (text) => text,
  json: (text) => text,
  jsonb: (text) => text,
  iso: (time) => time,
  ms: (time) => `CAST(round(unixepoch(${time}, 'subsec') * 1000) AS INTEGER)`,
  hour: (time) => `substr(${time}, 1, 13)`,
  isoHour: (hour) => `${hour} || ':00:00.000Z'`,
  now: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  has: (json, text) => `instr(${json}, ${text}) > 0`,
  matches: (json, pattern) => `${json} GLOB ${pattern}`,
  pattern: globOf,
  // By another index than that of users, SQLite would look through a whole project for each piece.
  indexed: (by) => (by ? 'INDEXED BY rows_of_user' : 'NOT INDEXED'),
  members: (json, member) => `json_each(${json}${member ? `, '$.${member}'` : ''}) AS one`,
  // The shortest of the two that is the same number. Of `true` SQLite has 1 as the value.
  memberValue: `CASE one.type WHEN 'text' THEN 's' WHEN 'integer' THEN 'n' WHEN 'real' THEN 'n'
      WHEN 'object' THEN 'o' WHEN 'array' THEN 'o' ELSE 'l' END
    || substr(CASE one.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'null' THEN 'null'
      WHEN 'real' THEN CASE WHEN CAST(printf('%!.15g', one.value) AS REAL) = one.value
        THEN printf('%!.15g', one.value) ELSE printf('%!.17g', one.value) END
      ELSE one.value END, 1, ${MAX_VALUE + 1})`,
  pairs: (one, other) => `json_group_array(${one} || char(0) || ${other})`,
  numbers: (column) => `'[' || group_concat(${column}) || ']'`,
  // Kept by AUTOINCREMENT, and missing before the first row: https://www.sqlite.org/autoinc.html
  lastPlace: `SELECT coalesce(max(seq), 0) AS place FROM sqlite_sequence WHERE name = 'records'`,
  nextPlace: [
    `INSERT INTO sqlite_sequence (name, seq) SELECT 'records', 0
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'records')`,
    `UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'records' RETURNING seq AS place`,
  ],
};

/** AUTOINCREMENT: a place is never given twice, not even after everything was deleted. */
export const SQLITE_TYPES: Types = {
  seq: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  time: 'text',
  json: 'text',
  jsonb: 'text',
  key: 'text',
  hot: 'WITHOUT ROWID',
  userIndex: 'CREATE INDEX rows_of_user ON records (project, user_id) WHERE user_id IS NOT NULL',
};
