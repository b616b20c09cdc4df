import { messageOf } from '../../../util/errors.js';
import type { IdentifyBody } from '../../../interface/bodies.js';
import { codeOf } from './file.js';
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
import type { HourWriter, SummedRow } from './hours.js';
import type { ProfileCall, ProfileWriter } from './profiles.js';

/** What SQLite says if it refuses a row itself. Anything else is trouble of the database, and ends the whole write. */
const OF_THE_ROW = /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/;
const wordsOfRefusal = (error: unknown): string | undefined =>
  OF_THE_ROW.test(codeOf(error) ?? '') ? messageOf(error) : undefined;

const COLUMNS = [
  ...(['project', 'type', 'id', 'channel', 'event', 'user_id', 'body'] as const),
  ...(['called_at', 'received_at', 'arrivals', 'client', 'sender', 'notify'] as const),
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

type RemovedRow = SummedRow & { seq: number; arrivals: number };

/** The functions that write and remove rows. They have to be called inside a transaction. */
export const createRowWriter = (
  { prepare }: Writer,
  profiles: ProfileWriter,
  hours: HourWriter,
) => {
  // All rows are one text, so that the statement is the same for any number of them.
  const insert = (onConflict: string) =>
    prepare(`
      INSERT INTO records (${COLUMNS.join(', ')})
      SELECT ${COLUMNS.map((_, index) => `value->>${index}`).join(', ')}
      FROM json_each(?) WHERE TRUE
      ON CONFLICT (project, type, id) ${onConflict} RETURNING project, type, id, arrivals,
        iif(arrivals > 1, json_object('seq', seq, 'project', project, 'type', type,
          'id', id, 'channel', channel, 'event', event, 'called_at', called_at, 'received_at', received_at), NULL) AS repeated`);
  const insertOrCount = insert('DO UPDATE SET arrivals = arrivals + 1');
  const insertNew = insert('DO NOTHING');
  const remove = prepare('DELETE FROM records WHERE project = ? AND type = ? AND id = ?');
  const removeSome = (found: string) =>
    prepare(`DELETE FROM records WHERE seq IN (${found})
      RETURNING seq, project, channel, event, called_at, received_at, arrivals`);
  const removePlaces = removeSome('SELECT value FROM json_each(?)');
  const removeBefore = removeSome(
    'SELECT seq FROM records WHERE received_at < ? AND seq < ? ORDER BY received_at LIMIT ?',
  );

  const removeReasons = prepare(
    'DELETE FROM target_dead WHERE place IN (SELECT value FROM json_each(?))',
  );
  const unpark = prepare('DELETE FROM parked WHERE place IN (SELECT value FROM json_each(?))');

  /** Takes removed rows off the sums by hour and off the refused rows of targets. Returns how many they are. */
  const takeOff = async (removing: Promise<RemovedRow[]>): Promise<number> => {
    const rows = await removing;
    if (!rows.length) return 0;
    const places = JSON.stringify(rows.map(({ seq }) => seq));
    // Why a target has refused a row may quote the row.
    await removeReasons(places);
    await unpark(places);
    const isSummed = await hours.whichSummed();
    const sums = hours.createSums();
    for (const row of rows) if (isSummed(row.seq)) sums.add(row, -1, 1 - row.arrivals);
    await hours.take(sums);
    return rows.length;
  };

  /** Merges the new identifies. The row of one that would break a bound is removed again. */
  const mergeIdentifies = async (
    records: readonly Incoming[],
    written: Written[],
  ): Promise<Written[]> => {
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
  };

  return {
    /** Writes records, merges the new identifies, and adds all to the sums by hour. */
    write: async (records: readonly Incoming[]): Promise<Written[]> => {
      const repeats: (SummedRow & RecordKey & { seq: number })[] = [];
      const insertAll = createRecordWriter({
        wordsOfRefusal,
        store: async (some) => {
          const values = JSON.stringify(some.map(valuesOf));
          const rows = await insertOrCount<RecordKey & { repeated: string | null }>(values);
          const known = rows.filter(({ repeated }) => repeated !== null);
          repeats.push(
            ...known.map(({ repeated }) => JSON.parse(repeated!) as (typeof repeats)[number]),
          );
          return { known: new Set(known.map(rowKeyOf)) };
        },
      });
      const written = await mergeIdentifies(records, await insertAll(records));
      const sums = hours.createSums();
      const dead = new Set<string>();
      for (const [index, record] of records.entries()) {
        const { outcome } = written[index]!;
        if (outcome === 'stored') sums.add(columnsOf(record), 1, 0);
        if (outcome === 'dead') dead.add(recordKeyOf(record));
      }
      if (repeats.length) {
        const isSummed = await hours.whichSummed();
        for (const row of repeats)
          if (isSummed(row.seq) && !dead.has(rowKeyOf(row))) sums.add(row, 0, 1);
      }
      await hours.add(sums);
      return written;
    },
    /** Takes over rows of another store that are not here yet. Merges the new identifies only if it is asked to. */
    adopt: async (records: readonly Arrived[], mergesIdentifies: boolean): Promise<Written[]> => {
      const insertAll = createRecordWriter({
        wordsOfRefusal,
        store: async (some) => {
          const rows = await insertNew<RecordKey>(JSON.stringify(some.map(valuesOf)));
          const fresh = new Set(rows.map(rowKeyOf));
          return { known: new Set(some.map(recordKeyOf).filter((key) => !fresh.has(key))) };
        },
      });
      const inserted = await insertAll(records);
      const written = mergesIdentifies ? await mergeIdentifies(records, inserted) : inserted;
      const sums = hours.createSums();
      for (const [index, record] of records.entries())
        if (written[index]!.outcome === 'stored')
          sums.add(columnsOf(record), 1, (record.arrivals ?? 1) - 1);
      await hours.add(sums);
      return written;
    },
    /** Deletes rows by their places, and returns how many there were. */
    remove: (places: readonly number[]): Promise<number> =>
      takeOff(removePlaces<RemovedRow>(JSON.stringify(places))),
    /** Deletes rows that arrived before a time, at most `limit`, and returns how many there were. */
    removeBefore: (time: string, limit: number, upto = Number.MAX_SAFE_INTEGER): Promise<number> =>
      takeOff(removeBefore<RemovedRow>(time, upto, limit)),
  };
};
