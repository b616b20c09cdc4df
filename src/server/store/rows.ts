import { number, type Database } from './database.js';
import { isFound, type Filters } from './filter.js';
import type { Found, Row, RowFilter, Span } from './port.js';
import { present } from './present.js';
import type { Steps } from './steps.js';

type StoredRow = Omit<Row, 'body' | 'from_server'> & { body: string; from_server: unknown };

/** Reads rows: all that fit, or those that are found within a time. */
export const createRowReader = (
  database: Database,
  { conditionsOf, cutToTime }: Filters,
  { steps }: Steps,
) => {
  const { table, iso, read, blocks } = database;
  const records = table('records');
  const COLUMNS = `${number('r.seq', 'seq')}, id, type, project, channel, event, user_id,
    CAST(body AS text) AS body, ${iso('called_at')} AS called_at, ${iso('received_at')} AS received_at,
    arrivals, client, from_server`;

  const find = async (filter: RowFilter, span: Span & { ms?: number }): Promise<Found> => {
    // An index leads to these rows, and nobody else waits meanwhile.
    const isWhole = isFound(filter) && !blocks;
    const { limit, newest, ms, ...places } = await cutToTime(filter, span, isWhole);
    const found: StoredRow[] = [];
    const looked = { place: newest ? 0 : (places.after ?? 0), is_all: true };
    const readStep = async (
      after: number | undefined,
      before: number | undefined,
    ): Promise<void> => {
      const { add, value, values, text } = conditionsOf(filter);
      if (after !== undefined) add(`r.seq > ${value(after)}`);
      if (before !== undefined) add(`r.seq < ${value(before)}`);
      found.push(
        ...(await read<StoredRow>(
          `SELECT ${COLUMNS} FROM ${records} AS r WHERE ${text()}
          ORDER BY r.seq ${newest ? 'DESC' : 'ASC'} LIMIT ${value(limit - found.length)}`,
          ...values,
        )),
      );
    };
    if (isWhole) await readStep(places.after, places.before);
    else
      for await (const { after, before, isLast } of steps({
        ...{ ...places, newest, ms, rests: !isFound(filter) },
      })) {
        await readStep(after, before);
        looked.place = newest ? after + 1 : before - 1;
        looked.is_all = isLast;
        if (found.length >= limit) break;
      }
    if (found.length >= limit) Object.assign(looked, { place: found.at(-1)?.seq, is_all: false });
    return {
      rows: found.map(({ body, from_server, ...row }) =>
        present({
          ...{ ...row, body: JSON.parse(body) as Row['body'] },
          ...(from_server ? ({ from_server: true } as const) : {}),
        }),
      ),
      looked,
    };
  };

  return {
    find,
    rows: async (filter: RowFilter, span: Span): Promise<Row[]> => (await find(filter, span)).rows,
    /** When the first row at or behind a place arrived. */
    sinceOf: async (place: number): Promise<string | undefined> => {
      const since = `SELECT ${iso('received_at')} AS since FROM ${records} WHERE seq >= $1 ORDER BY seq LIMIT 1`;
      return (await read<{ since: string }>(since, place))[0]?.since;
    },
  };
};
