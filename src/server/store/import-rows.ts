import { messageOf } from '../../util/errors.js';
import { isDateTime } from '../../util/is-date-time.js';
import { isObject } from '../../util/is-object.js';
import type { Kind } from '../../interface/kinds.js';
import { isoTime } from '../iso-time.js';
import { checkRecord, ID_WORDS, isId, parseJson } from '../records.js';
import { isRefusal } from '../refusal.js';
import type { PlacelessRow, Store } from './port.js';

/** A line of a file. */
export interface Line {
  number: number;
  /** Without the end of the line; empty if there is a fault. */
  text: string;
  /** In words why it could not be read. */
  fault?: string;
}

/** How far an import has come. */
export interface ImportProgress {
  /** How many lines were read so far. Empty ones are not counted. */
  lines: number;
  /** How many rows were new to the store. */
  rows: number;
  /** How many rows the database has refused. They are new among its dead letters. */
  dead: number;
  /** How many lines are no rows. */
  wrong: number;
  /** Whether a row names a user. */
  hasUsers: boolean;
}

export interface ImportOptions {
  /** Called after each batch with the progress of the import. */
  onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** Called with the number of a line that is no row, and with what is wrong with it, for people. */
  onWrong?: ((number: number, fault: string) => void) | undefined;
}

/** Rows that are stored in one transaction: up to this number, and about this many characters. */
const [BATCH, BATCH_CHARACTERS] = [1_000, 2_000_000];

const TIME: Kind = {
  words: 'a date-time of RFC 3339 in the years 1 to 9998',
  fits: (value) => typeof value === 'string' && isDateTime(value) && isoTime(value) !== undefined,
};
const ID: Kind = { words: ID_WORDS, fits: isId };
/** The fields of a row that are not of its record. */
const FIELDS: Readonly<Record<string, Kind>> = {
  id: ID,
  called_at: TIME,
  received_at: TIME,
  arrivals: {
    words: 'a whole number from 1 to 2,147,483,647',
    fits: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) < 2 ** 31,
  },
  client: { words: ID.words, fits: (value) => value === undefined || isId(value) },
  from_server: { words: 'true', fits: (value) => value === undefined || value === true },
};
/** The fields of the body that a row has beside it, too. */
const COPIES = ['project', 'channel', 'event', 'user_id'];

/** The row that a line holds, or in words what is wrong with it. */
const rowOf = (text: string): PlacelessRow | string => {
  const given = parseJson(text);
  if (!isObject(given)) return 'it is no JSON object';
  const wrong = Object.keys(FIELDS).find((name) => !FIELDS[name]!.fits(given[name]));
  if (wrong)
    return `\`${wrong}\` ${given[wrong] === undefined ? 'is missing:' : 'must be'} ${FIELDS[wrong]!.words}`;
  const { id, called_at, received_at, arrivals, client, from_server } =
    given as unknown as PlacelessRow;
  const receivedAt = isoTime(received_at)!;
  const record = checkRecord(
    { id, type: given['type'], body: given['body'], called_at },
    { projects: '*', channels: '*', fillsIn: false },
    { receivedAt, mayWrite: () => true },
  );
  if (isRefusal(record)) return record.message;
  const { type, body } = record;
  const fields = Object.fromEntries(
    COPIES.map((name) => [name, (body as unknown as Record<string, unknown>)[name]]),
  );
  const other = COPIES.find((name) => given[name] !== fields[name]);
  if (other) return `\`${other}\` must be the same as in the body`;
  return {
    ...(fields as Pick<PlacelessRow, 'project' | 'channel' | 'event' | 'user_id'>),
    ...{ id, type, body, received_at: receivedAt, arrivals },
    // The time in the body of an event may be another: that of the arrival, if the page has sent none.
    called_at: type === 'event' ? isoTime(called_at)! : record.calledAt,
    ...(client !== undefined && { client }),
    ...(from_server && { from_server }),
  };
};

/**
 * Stores the rows of an export, a line of JSON each, with their times, arrivals and ids. The identifies are merged into
 * profiles. Rows that are there already are skipped, so an import can be run again. Lines that are no rows are skipped,
 * too, and reported.
 */
export const importRows = async (
  store: Pick<Store, 'adopt'>,
  lines: AsyncIterable<Line>,
  { onProgress, onWrong }: ImportOptions = {},
): Promise<ImportProgress> => {
  const total: ImportProgress = { lines: 0, rows: 0, dead: 0, wrong: 0, hasUsers: false };
  let batch: PlacelessRow[] = [];
  let characters = 0;

  const storeBatch = async (): Promise<void> => {
    const { rows, refused } = await store.adopt({ rows: batch });
    total.rows += rows;
    total.dead += refused;
    batch = [];
    characters = 0;
    onProgress?.({ ...total });
  };

  let done = 0;
  try {
    for await (const line of lines) {
      const row = line.fault ?? rowOf(line.text);
      total.lines++;
      if (typeof row === 'string') {
        total.wrong++;
        onWrong?.(line.number, row);
        continue;
      }
      batch.push(row);
      total.hasUsers ||= row.user_id !== undefined;
      characters += line.text.length;
      if (batch.length < BATCH && characters < BATCH_CHARACTERS) continue;
      await storeBatch();
      done = line.number;
    }
    if (batch.length) await storeBatch();
    return total;
  } catch (error) {
    const words = `the import broke off after line ${done}, and can be run again: ${messageOf(error)}`;
    throw new Error(words, { cause: error });
  }
};
