import { messageOf } from '../../../interface/errors.js';
import type { IdentifyBody } from '../../../interface/bodies.js';
import { codeOf } from '../../queue/libsql/file.js';
import type { Incoming } from '../../incoming.js';
import type { Written } from '../port.js';
import {
  columnsOf,
  createRecordWriter,
  recordKeyOf,
  rowKeyOf,
  userOf,
  type Arrived,
  type Columns,
  type RecordKey,
} from '../write-records.js';
import type { Writer } from './connections.js';
import type { ProfileCall, ProfileWriter } from './profiles.js';

/** What SQLite says if it refuses a row itself. Anything else is trouble of the database, and ends the whole write. */
const OF_THE_ROW = /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/;
const wordsOfRefusal = (error: unknown): string | undefined =>
  OF_THE_ROW.test(codeOf(error) ?? '') ? messageOf(error) : undefined;

const COLUMNS = [
  ...(['project', 'type', 'id', 'channel', 'event', 'user_id', 'body'] as const),
  ...(['called_at', 'received_at', 'arrivals', 'client'] as const),
] satisfies (keyof Columns)[];

const valuesOf = (record: Arrived): unknown[] => {
  const columns = columnsOf(record);
  return COLUMNS.map((name) => columns[name]);
};

const callOf = (record: Incoming): ProfileCall => {
  const { project, user_id, properties } = record.body as IdentifyBody;
  const times = { created_at: record.receivedAt, updated_at: record.receivedAt };
  return { project, user_id, properties, set_at: record.calledAt, ...times };
};

/** The functions that write rows. They have to be called inside a transaction. */
export const createRowWriter = ({ prepare }: Writer, profiles: ProfileWriter) => {
  // All rows are one text, so that the statement is the same for any number of them.
  const insert = (onConflict: string) =>
    prepare(`
      INSERT INTO rows (${COLUMNS.join(', ')})
      SELECT ${COLUMNS.map((_, index) => `value->>${index}`).join(', ')}
      FROM json_each(?) WHERE TRUE
      ON CONFLICT (project, type, id) ${onConflict} RETURNING project, type, id, arrivals`);
  const insertOrCount = insert('DO UPDATE SET arrivals = arrivals + 1');
  const insertNew = insert('DO NOTHING');
  const remove = prepare('DELETE FROM rows WHERE project = ? AND type = ? AND id = ?');

  const insertAll = createRecordWriter({
    wordsOfRefusal,
    store: async (records) => {
      const values = JSON.stringify(records.map(valuesOf));
      const rows = await insertOrCount<RecordKey & { arrivals: number }>(values);
      const known = rows.filter(({ arrivals }) => arrivals > 1);
      return { known: new Set(known.map(rowKeyOf)) };
    },
  });

  return {
    /** Writes records, and merges the new identifies. The row of one that would break a bound is removed again. */
    write: async (records: readonly Incoming[]): Promise<Written[]> => {
      const written = await insertAll(records);
      const identifies = records.filter(
        ({ type }, index) => type === 'identify' && written[index]!.outcome === 'stored',
      );
      if (!identifies.length) return written;
      const { refused, large } = await profiles.merge(identifies.map(callOf));
      const broken = new Map<string, string>();
      for (const [index, words] of refused) {
        const { id, type, body } = identifies[index]!;
        await remove(body.project, type, id);
        broken.set(recordKeyOf(identifies[index]!), words);
      }
      if (!broken.size && !large.size) return written;
      return records.map((record, index) => {
        const message = broken.get(recordKeyOf(record));
        if (message !== undefined) return { outcome: 'dead', message };
        const isNew = record.type === 'identify' && written[index]!.outcome === 'stored';
        const profile = isNew ? large.get(userOf(record.body)) : undefined;
        return { ...written[index]!, ...(profile !== undefined && { profile }) };
      });
    },
    /** Takes over rows of another store that are not here yet. Returns how many they are, and what became of each. */
    adopt: async (records: readonly Arrived[]): Promise<{ added: number; written: Written[] }> => {
      let added = 0;
      const writeAll = createRecordWriter({
        wordsOfRefusal,
        store: async (some) => {
          added += (await insertNew(JSON.stringify(some.map(valuesOf)))).length;
          return { known: new Set() };
        },
      });
      const written = await writeAll(records);
      return { added, written };
    },
  };
};
