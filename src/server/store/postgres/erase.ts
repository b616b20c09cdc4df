import type { ErasureParts } from '../erasures.js';
import type { Erased } from '../port.js';
import type { Erasure } from '../progress.js';
import type { Tables } from './columns.js';
import type { PostgresDatabase } from './database.js';
import { literal, lockOf, quoted } from './schema.js';
import { createConditions } from './span.js';

/** How many places one statement looks through, and how many of them it returns at the most. */
const [STEP, MOST] = [100_000, 10_000];

/** The columns that an erasure names, with the condition that a row has to meet. */
const CONDITIONS = {
  project: (value) => `project = ${value}`,
  user_id: (value) => `user_id = ${value}`,
  channel: (value) => `channel = ${value}`,
  event: (value) => `event = ${value}`,
  from: (value) => `received_at >= ${value}::timestamptz`,
  to: (value) => `received_at < ${value}::timestamptz`,
} satisfies Record<keyof Erased, (value: string) => string>;

/** Keeps erasures, and finds their rows. */
export const createEraser = (
  database: PostgresDatabase,
  { records, erasures, profiles }: Tables,
  schema: string,
  now: string,
): Pick<ErasureParts, 'begin' | 'find'> => {
  const sequence = literal(`${quoted(schema)}.records_seq_seq`);
  const maybe = (text: string | undefined): string => (text === undefined ? 'NULL' : literal(text));

  return {
    // The second statement sees all that was stored before it got the lock, so no row has a lower place later.
    begin: async (erased, given) => {
      const { project, user_id, channel, event, from, to } = erased;
      const values = [project, user_id, channel, event, from, to].map(maybe).join(', ');
      const [row] = await database.write<Pick<Erasure, 'place' | 'upto'>>({
        text: `SELECT ${lockOf(schema, 'rows')};
          WITH next AS MATERIALIZED (SELECT nextval(${sequence}) AS place),
          gone AS (
            DELETE FROM ${profiles} WHERE project = ${literal(project)} AND user_id = ${maybe(user_id)}
          )
          INSERT INTO ${erasures} (place, at, project, user_id, channel, event, received_from,
            received_to, upto, is_done)
          SELECT place, ${now}, ${values}, least(place, ${given ?? 'place'}), 0 FROM next
          RETURNING place::float8, upto::float8`,
      });
      return { ...erased, ...row! };
    },
    find: async function* find(erased, upto) {
      const [row] = await database.read<{ first: number | null }>({
        text: `SELECT min(seq)::float8 AS first FROM ${records}`,
      });
      for (let after = (row!.first ?? upto) - 1; after < upto - 1;) {
        const before = Math.min(upto, after + STEP + 1);
        const conditions = createConditions();
        const { value, values, add } = conditions;
        for (const [name, condition] of Object.entries(CONDITIONS)) {
          const given = erased[name as keyof Erased];
          if (given !== undefined) add(condition(value(given)));
        }
        add(`seq > ${value(after)} AND seq < ${value(before)}`);
        const rows = await database.read<{ seq: number }>({
          text: `SELECT seq::float8 FROM ${records} AS r WHERE ${conditions.condition}
            ORDER BY r.seq LIMIT ${MOST}`,
          values,
        });
        yield rows.map(({ seq }) => seq);
        after = rows.length < MOST ? before - 1 : rows.at(-1)!.seq;
      }
    },
  };
};
