import { isObject } from '../../interface/is-object.js';
import { MAX_BATCH_RECORDS } from '../../interface/wire.js';

/** A record whose id is well formed. Nothing else of it is checked yet. */
export interface ClaimedRecord {
  id: string;
  type: unknown;
  body: unknown;
  called_at?: unknown;
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

/** Why a batch is refused as a whole. */
export interface BatchFault {
  status: 400 | 413;
  message: string;
}

const wrong = (what: string): BatchFault => ({
  status: 400,
  message: `Invalid request data: ${what}`,
});

/** The records of a batch, or why it is refused as a whole. */
export const parseBatch = (text: string): ClaimedRecord[] | BatchFault => {
  const batch = parseJson(text);
  if (batch === undefined) return wrong('the body is no JSON');
  if (!isObject(batch)) return wrong('the body must be an object');
  const { sent_at: sentAt, records } = batch;
  if (typeof sentAt !== 'string') return wrong('sent_at must be a string');
  if (!Array.isArray(records)) return wrong('records must be a list');
  if (records.length > MAX_BATCH_RECORDS)
    return { status: 413, message: `Too large: records may be ${MAX_BATCH_RECORDS} at the most` };
  const claimed: ClaimedRecord[] = [];
  for (const [index, record] of (records as unknown[]).entries()) {
    if (!isObject(record)) return wrong(`records[${index}] must be an object`);
    const { id, type, body, called_at } = record;
    if (!isId(id)) return wrong(`records[${index}].id must have 1 to 64 letters, digits, - and _`);
    claimed.push({ id, type, body, called_at });
  }
  return claimed;
};
