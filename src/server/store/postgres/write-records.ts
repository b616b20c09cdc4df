import type { EventBody } from '../../../interface/bodies.js';
import { messageOf } from '../../../interface/errors.js';
import type { Incoming } from '../../incoming.js';
import { isoTime } from '../../iso-time.js';
import type { Written } from '../port.js';
import { sqlStateOf } from './database.js';
import type { RecordKey, Stored, StoredRecord } from './write-rows.js';

/** A record in the columns of the table. A time that cannot be kept is that of the arrival. */
export const columnsOf = ({
  id,
  type,
  body,
  text,
  client,
  calledAt,
  receivedAt,
}: Incoming): StoredRecord => {
  const { project, user_id, channel, event } = body as Partial<EventBody> & { project: string };
  const received_at = isoTime(receivedAt) ?? receivedAt;
  return {
    ...{ project, type, id, channel, event, user_id, client, received_at },
    body: text,
    called_at: isoTime(calledAt) ?? received_at,
    arrivals: 1,
  };
};

/**
 * Whether Postgres refuses what it was given, and not the connection or the statement: the data itself, a
 * constraint, a limit, or what a trigger raises. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export const isOfRecord = (error: unknown): boolean =>
  /^(22|23|44|54|P0)/.test(sqlStateOf((error as Error).cause) ?? '');
/** Whether a statement ran for longer than it may. Where it has waited for a lock, it has another code, 55P03. */
export const isLate = (error: unknown): boolean => sqlStateOf((error as Error).cause) === '57014';
/** Whether Postgres had to choose between two transactions, and asks for a second try. */
const isOfTurn = (error: unknown): boolean =>
  /^40(001|P01)$/.test(sqlStateOf((error as Error).cause) ?? '');
const TRIES = 3;

const keyOf = ({ project, type, id }: RecordKey): string => JSON.stringify([project, type, id]);

/** What became of each record that a statement was given. */
const writtenOf = (records: readonly StoredRecord[], { known, large }: Stored): Written[] => {
  const keys = new Set(known?.map(keyOf));
  return records.map((record) => {
    if (keys.size && keys.has(keyOf(record))) return { outcome: 'known' };
    const profile =
      record.type === 'identify' &&
      large?.find((one) => one.project === record.project && one.user_id === record.user_id);
    return { outcome: 'stored', ...(profile && { profile: profile.size }) };
  });
};

/** What becomes of records, given a statement that stores all of them or fails. */
export const createRecordWriter = (
  store: (records: readonly StoredRecord[]) => Promise<Stored>,
) => {
  const tryStore = async (records: readonly StoredRecord[], tries = TRIES) => {
    try {
      return await store(records);
    } catch (error) {
      if (tries > 1 && isOfTurn(error)) return tryStore(records, tries - 1);
      throw error;
    }
  };

  /** Halves what has a bad record until that stands alone, and has no neighbour to spoil. */
  const writeDistinct = async (records: readonly StoredRecord[]): Promise<Written[]> => {
    try {
      return writtenOf(records, await tryStore(records));
    } catch (error) {
      if (!isOfRecord(error)) throw error;
      if (records.length === 1)
        return [{ outcome: 'dead', message: messageOf((error as Error).cause) }];
      const half = Math.ceil(records.length / 2);
      const first = await writeDistinct(records.slice(0, half));
      return [...first, ...(await writeDistinct(records.slice(half)))];
    }
  };

  /** A statement cannot change a row twice, so a record that is there again goes with the next one. */
  const write = async (records: readonly StoredRecord[]): Promise<Written[]> => {
    const keys = new Set<string>();
    const isRepeat = records.map((record) => keys.size === keys.add(keyOf(record)).size);
    const written = await writeDistinct(records.filter((_, index) => !isRepeat[index]));
    if (written.length === records.length) return written;
    const repeated = await write(records.filter((_, index) => isRepeat[index]));
    return isRepeat.map((again) => (again ? repeated : written).shift()!);
  };
  return write;
};
