import { isObject } from '../../interface/is-object.js';
import { MAX_BATCH_RECORDS } from '../../interface/wire.js';

/** A record whose id is well formed. Nothing else of it is checked yet. */
export interface ClaimedRecord {
  id: string;
  type: unknown;
  body: unknown;
}

/**
 * The characters of nanoid and UUIDs. An id goes into a header and into the answer, so nothing else is
 * allowed.
 */
const ID = /^[\w-]{1,64}$/;

export const isId = (value: unknown): value is string =>
  typeof value === 'string' && ID.test(value);

/** Parses a body. Answers undefined, which no JSON means, where it cannot be parsed. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // not JSON, or deeper than the parser's stack (JavaScriptCore)
  }
};

/** The records of a batch, or the status it is refused with as a whole. */
export const parseBatch = (text: string): ClaimedRecord[] | 400 | 413 => {
  const batch = parseJson(text);
  if (!isObject(batch)) return 400;
  const { sent_at: sentAt, records } = batch;
  if (typeof sentAt !== 'string' || !Array.isArray(records)) return 400;
  if (records.length > MAX_BATCH_RECORDS) return 413;
  const claimed: ClaimedRecord[] = [];
  for (const record of records as unknown[]) {
    if (!isObject(record) || !isId(record['id'])) return 400;
    claimed.push({ id: record['id'], type: record['type'], body: record['body'] });
  }
  return claimed;
};
