import type { RecordType } from '../../interface/bodies.js';
import { isObject } from '../../interface/is-object.js';
import { hasInfinity } from '../../interface/has-infinity.js';
import { isDeeper } from '../../interface/is-deeper.js';
import { MAX_USER_BYTES } from '../../interface/max-user-bytes.js';
import { FIELDS, wrongField } from '../../interface/validate.js';
import { MAX_BATCH_RECORDS, type BatchRecord, type BatchResult } from '../../interface/wire.js';

/** Values that a body may have. A page sends 60,000 bytes at the most, which cannot hold more. */
const MAX_VALUES = 32_768;
const TOKEN_BYTES = 4_096;
const TOKEN_VALUES = 256;
/** How deep the records of a batch are: in a list, in an object. */
const RECORD_DEPTH = 3;

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** The index of the quote that ends the string which begins at `start`. */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end > 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
};

/** What a body costs of its client's rate limit when it is refused before it is complete. */
export const weighBytes = (bytes: number): number => Math.max(1, Math.ceil(bytes / TOKEN_BYTES));

interface Weight {
  /** What the body costs of its client's rate limit. */
  tokens: number;
  /** It has more values than may be parsed. */
  isTooMuch: boolean;
}

/**
 * What a body is worth, before it is parsed: parsing costs many times as much, and a kilobyte of gzip can hold
 * 350,000 objects. A token pays for one record, 4 KiB or 256 values, whichever is more.
 */
export const weighBody = (text: string): Weight => {
  let depth = 0;
  let values = 1;
  let records = 0;
  for (let i = 0; i < text.length && values <= MAX_VALUES; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === COMMA) values++;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      values++;
      depth++;
      if (depth === RECORD_DEPTH && code === OPEN_OBJECT) records++;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth--;
  }
  return {
    tokens: Math.ceil(Math.max(1, records, text.length / TOKEN_BYTES, values / TOKEN_VALUES)),
    isTooMuch: values > MAX_VALUES,
  };
};

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

/** Names that may be written to; `*` stands for any. */
export type Names = readonly string[] | '*';

interface Rules {
  projects: Names;
  channels: Names;
}

const lists = (names: Names, name: unknown): boolean =>
  names === '*' || names.includes(name as string);

/** Bytes of a record's body. A page sends 60,000 at the most. */
const MAX_RECORD_BYTES = 65_536;

const bytesOf = (text?: string): number => new TextEncoder().encode(text).length;

/** Milliseconds since the epoch, within the years that ISO 8601 writes with four digits. */
const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < 253_402_300_800_000;

/** Compares the values: with `in`, the list `['event']` would pass as a key. */
const isType = (type: unknown): type is RecordType => type === 'identify' || type === 'event';

/**
 * The record as it goes to the service, or the result that refuses it. A value that is not listed is
 * `blocked`, not `rejected`: a page may be newer than the lists, and keeps the record until they have caught
 * up.
 */
export const checkRecord = (
  { id, type, body, called_at }: ClaimedRecord,
  { projects, channels }: Rules,
): BatchRecord | BatchResult => {
  const wrong = (field: string): BatchResult => ({ id, outcome: 'rejected', status: 400, field });
  if (!isType(type)) return wrong('type');
  if (isDeeper(body)) return wrong('body');
  const field = wrongField(type, body);
  if (field) return wrong(field);
  const given = body as Record<string, unknown>; // the check says so
  const blocked = { id, outcome: 'blocked', status: 403 } as const;
  if (!lists(projects, given['project'])) return { ...blocked, unlisted: 'project' };
  if (type === 'event' && !lists(channels, given['channel'])) {
    return { ...blocked, unlisted: 'channel' };
  }
  // Fields that the interface does not know are left out: the token may allow more than a page may do.
  const known = Object.entries(given).filter(([name]) => Object.hasOwn(FIELDS[type], name));
  const infinite = known.find(([, value]) => hasInfinity(value));
  if (infinite) return wrong(infinite[0]);
  const good = Object.fromEntries(known);
  // These are parts of keys, which are kept for longer than the record.
  const long = ['project', 'user_id'].find(
    (name) => bytesOf(good[name] as string) > MAX_USER_BYTES,
  );
  if (long) return wrong(long);
  if (bytesOf(JSON.stringify(good)) > MAX_RECORD_BYTES)
    return { id, outcome: 'rejected', status: 413 };
  return { id, type, body: good, ...(isTime(called_at) && { called_at }) };
};
