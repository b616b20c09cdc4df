import type { RecordType } from '../interface/bodies.js';
import { hasInfinity } from '../util/has-infinity.js';
import { isDateTime } from '../util/is-date-time.js';
import { isDeeper, MAX_LEVELS } from '../util/is-deeper.js';
import { isObject } from '../util/is-object.js';
import { mayFail } from '../util/may-fail.js';
import { NOBODY } from '../interface/nobody.js';
import { FIELDS, wrongField } from '../interface/validate.js';
import { MAX_BATCH_RECORDS } from '../interface/wire.js';
import type { Pass } from './doors.js';
import type { Incoming } from './incoming.js';
import { isoTime } from './iso-time.js';
import { refusalOf, type Refusal } from './refusal.js';

/** A record whose id is well formed. Nothing else of it is checked yet. */
export interface ClaimedRecord {
  id: string;
  type: unknown;
  body: unknown;
  called_at?: unknown;
}

/** Characters of an id. */
export const MAX_ID = 255;
/** Visible ASCII, with spaces only inside, since an id is used in headers, keys and answers. */
const ID = /^[!-~](?:[ -~]*[!-~])?$/;
export const ID_WORDS = `1 to ${MAX_ID} visible ASCII characters`;
export const isId = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_ID && ID.test(value);

/** Parses a text. Undefined if it is no JSON, or deeper than the parser's stack (JavaScriptCore). */
export const parseJson = (text: string): unknown => mayFail(() => JSON.parse(text) as unknown);

const wrong = (message: string): Refusal => refusalOf('body', message);

/** The records of a batch, or why it is refused as a whole. */
export const parseBatch = (text: string): ClaimedRecord[] | Refusal => {
  const batch = parseJson(text);
  if (batch === undefined) return wrong('the body is no JSON');
  if (!isObject(batch)) return wrong('the body must be an object');
  const { sent_at: sentAt, records } = batch;
  if (typeof sentAt !== 'string') return wrong('sent_at must be a string');
  if (!Array.isArray(records)) return wrong('records must be a list');
  if (records.length > MAX_BATCH_RECORDS)
    return refusalOf('size', `a batch may have ${MAX_BATCH_RECORDS} records at the most`);
  for (const [index, record] of (records as unknown[]).entries()) {
    if (!isObject(record)) return wrong(`records[${index}] must be an object`);
    if (!isId(record['id'])) return wrong(`records[${index}].id must have ${ID_WORDS}`);
  }
  return records as ClaimedRecord[];
};

/** Names that may be written to; `*` stands for any. */
export type Names = readonly string[] | '*';

/** What a server takes. */
export interface Rules {
  projects: Names;
  channels: Names;
  /** Fill in the defaults of the interface, for a store. Records that are passed on stay as they were sent. */
  fillsIn: boolean;
}

/** Bytes of a name, which becomes a part of database keys. */
const MAX_KEY_BYTES = 1_024;
const KEYS = ['project', 'channel', 'event', 'user_id'];
/** Characters of a record, so that a page of rows fits into memory. */
export const MAX_RECORD = 131_072;

/** A unit of a string has three bytes at the most, so a short text need not be encoded. */
const isLongKey = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.length * 3 > MAX_KEY_BYTES &&
  new TextEncoder().encode(value).length > MAX_KEY_BYTES;

const lists = (names: Names, name: unknown): boolean =>
  names === '*' || names.includes(name as string);

export const isType = (type: unknown): type is RecordType =>
  type === 'identify' || type === 'event';

/** Milliseconds since the epoch, within the years that ISO 8601 writes with four digits. */
const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < 253_402_300_800_000;

const wrongIn = (field: string, message: string): Refusal => refusalOf('field', message, { field });

/** What is wrong with a body, if anything. */
const faultOf = (type: RecordType, body: unknown): Refusal | undefined => {
  const field = wrongField(type, body);
  if (field === 'body') return wrongIn(field, 'the body must be an object');
  const given = body as Record<string, unknown>;
  if (field) {
    const { words } = FIELDS[type][field]!;
    const isMissing = given[field] === undefined;
    return wrongIn(
      field,
      isMissing ? `\`${field}\` is missing: ${words}` : `\`${field}\` must be ${words}`,
    );
  }
  const long = KEYS.find((name) => isLongKey(given[name]));
  if (long) return wrongIn(long, `\`${long}\` may have ${MAX_KEY_BYTES} bytes at the most`);
  if (isDeeper(body)) return wrongIn('body', `the body may have ${MAX_LEVELS} levels at the most`);
  const infinite = Object.keys(FIELDS[type]).find((name) => hasInfinity(given[name]));
  if (infinite)
    return wrongIn(infinite, `\`${infinite}\` has a number beyond what JSON readers hold, 1.8e308`);
  return undefined;
};

const notListed = (unlisted: 'project' | 'channel', value: unknown): Refusal =>
  refusalOf(
    'project',
    `The server does not list the ${unlisted} "${String(value)}". Add it to the ${unlisted}s of the server, or correct it in the ${unlisted === 'project' ? 'tag' : 'call'}.`,
    { unlisted },
  );

/**
 * Leaves out unknown fields, since the service behind might obey them, and a page must not use that; and a user who is
 * nobody, so that an event has none, and an `identify` lacks one.
 */
const knownOf = (type: RecordType, body: unknown): unknown => {
  if (!isObject(body)) return body;
  const isKnown = (name: string) =>
    Object.hasOwn(FIELDS[type], name) &&
    (name !== 'user_id' || typeof body[name] !== 'string' || !NOBODY.test(body[name]));
  const names = Object.keys(body);
  if (names.every(isKnown)) return body;
  return Object.fromEntries(names.filter(isKnown).map((name) => [name, body[name]]));
};

/** The time of a call as it was sent: that in the body of an event, or the one beside the body. */
const toldIn = (type: RecordType, { timestamp }: Record<string, unknown>, told: unknown): unknown =>
  (type === 'event' && timestamp) || (isTime(told) ? new Date(told).toISOString() : told);

const calledAtOf = (type: RecordType, told: unknown, receivedAt: string): string => {
  const time = typeof told === 'string' ? isoTime(told) : undefined;
  if (!time) return receivedAt;
  return type === 'identify' && time > receivedAt ? receivedAt : time;
};

/**
 * Checks a record, and makes the form of it that all later steps use. A project or channel that is not listed is no
 * fault of the record: the page may be newer than the lists, and keeps the record until they have it.
 */
export const checkRecord = (
  { id, type, body, called_at: told }: ClaimedRecord,
  { projects, channels, fillsIn }: Rules,
  { receivedAt, mayWrite }: Pick<Pass, 'mayWrite'> & { receivedAt: string },
): Incoming | Refusal => {
  if (!isType(type)) return wrongIn('type', 'type must be "identify" or "event"');
  const checked = knownOf(type, body);
  const fault = faultOf(type, checked);
  if (fault) return fault;
  const known = checked as Record<string, unknown>; // the check says so
  if (!lists(projects, known['project'])) return notListed('project', known['project']);
  if (type === 'event' && !lists(channels, known['channel']))
    return notListed('channel', known['channel']);
  if (!mayWrite(known['project'] as string))
    return refusalOf(
      'project',
      `The token may not write to the project "${String(known['project'])}". Use a token of this project, or add the project to the token.`,
    );
  if (typeof told === 'string' && !isDateTime(told))
    return wrongIn('X-Called-At', '`X-Called-At` must be a date-time of RFC 3339');
  const isFilled = type === 'event' && fillsIn;
  const whole = isFilled ? { notify: false, tags: {}, timestamp: receivedAt, ...known } : known;
  const text = JSON.stringify(whole);
  if (text.length > MAX_RECORD)
    return refusalOf('size', `A record may have ${MAX_RECORD} characters at the most.`);
  return {
    ...{ id, type, text, receivedAt, body: whole as unknown as Incoming['body'] },
    calledAt: calledAtOf(type, toldIn(type, known, told), receivedAt),
  };
};
