import type { EventBody, RecordType } from '../../interface/bodies.js';
import type { Database } from './database.js';
import { keyOf } from '../incoming.js';
import { createRecordWriter, type Arrived } from './write-records.js';

/** The columns of which no two rows have the same. */
interface RowKey {
  project: string;
  type: RecordType;
  id: string;
}
const keyOfRow = ({ project, type, id }: RowKey): string => keyOf({ type, id, body: { project } });

const COLUMNS = [
  ...['project', 'type', 'id', 'channel', 'event', 'user_id', 'body', 'called_at', 'received_at'],
  ...['arrivals', 'client', 'notify', 'sender', 'from_server'],
];
/** The values of these columns. A row of another store has its number of arrivals, and was notified of there. */
const valuesOf = (record: Arrived): unknown[] => {
  const { id, type, text, calledAt, receivedAt, arrivals, client, sender, fromServer } = record;
  const { project, channel, event, user_id, notify } = record.body as Partial<EventBody>;
  return [
    ...[project, type, id, channel, event, user_id, text, calledAt, receivedAt],
    ...[arrivals ?? 1, client, (arrivals === undefined && notify) || undefined, sender, fromServer],
  ];
};

/** Repeats of a project at some time. */
type Repeats = [at: string, project: string, n: number];

/** Appends rows to the log. That is all that a writer does: whatever follows from a row is made by a reader. */
export const createAppender = (database: Database) => {
  const { table, each, turn, time, json, hour, write, wordsOfRefusal } = database;
  const expressions: Record<string, (value: string) => string> = {
    body: json,
    called_at: time,
    received_at: time,
    arrivals: (value) => `CAST(${value} AS integer)`,
    notify: (value) => `CAST(${value} AS boolean)`,
    from_server: (value) => `CAST(${value} AS boolean)`,
  };
  const values = COLUMNS.map((name, index) => {
    const value = `value->>${index}`;
    return expressions[name]?.(value) ?? value;
  });
  const insert = (onConflict: string) => `
    WITH ${turn()}
    INSERT INTO ${table('records')} (${COLUMNS.join(', ')})
    SELECT ${values.join(', ')} FROM turn, ${each('$1')} WHERE TRUE ORDER BY key
    ON CONFLICT (project, type, id) ${onConflict}`;
  const isKnown = 'CASE WHEN arrivals > 1 THEN';
  // A row that is new says nothing of itself.
  const append = `${insert('DO UPDATE SET arrivals = records.arrivals + 1')}
    RETURNING ${['project', 'type', 'id'].map((name) => `${isKnown} ${name} END AS ${name}`).join(', ')}`;
  const appendNew = `${insert('DO NOTHING')}
    RETURNING project, type, id`;
  const addRepeats = `INSERT INTO ${table('repeats')} (hour, project, n)
    SELECT ${hour(time('value->>0'))}, value->>1, CAST(value->>2 AS integer) FROM ${each('$1')}
    WHERE TRUE ORDER BY 1, 2
    ON CONFLICT (hour, project) DO UPDATE SET n = repeats.n + excluded.n`;

  const textOf = (records: readonly Arrived[]): string => JSON.stringify(records.map(valuesOf));
  /** Counts repeats. The rows are stored already, so nobody sends them again if this statistic is not written. */
  const countRepeats = async (all: readonly Repeats[]): Promise<void> => {
    const sums = new Map<string, Repeats>();
    for (const [at, project, n] of all) {
      const key = at.slice(0, 13) + project;
      const sum = sums.get(key);
      if (sum) sum[2] += n;
      else if (n) sums.set(key, [at, project, n]);
    }
    if (sums.size) await write(addRepeats, JSON.stringify([...sums.values()])).catch(() => {});
  };

  return {
    /** Appends records that have arrived. A known one is counted: its row stays as it is. */
    append: createRecordWriter({
      wordsOfRefusal,
      store: async (records) => {
        const rows = await write<RowKey | { id: null }>(append, textOf(records));
        const keys = rows.flatMap((row) => (row.id === null ? [] : [keyOfRow(row)]));
        const known = new Set(keys);
        const repeats = known.size ? records.filter((one) => known.has(keyOf(one))) : [];
        await countRepeats(repeats.map(({ receivedAt, body }) => [receivedAt, body.project, 1]));
        return known;
      },
    }),
    /** Appends rows of another store that are not here yet. */
    adopt: createRecordWriter({
      wordsOfRefusal,
      store: async (records) => {
        const rows = await write<RowKey>(appendNew, textOf(records));
        const fresh = new Set(rows.map(keyOfRow));
        const added = records.filter((one) => fresh.has(keyOf(one)));
        await countRepeats(
          added.map(({ receivedAt, body, arrivals = 1 }) => [
            receivedAt,
            body.project,
            arrivals - 1,
          ]),
        );
        return new Set(records.map(keyOf).filter((key) => !fresh.has(key)));
      },
    }),
  };
};
