import { FIELDS, wrongField } from '../../interface/validate.js';
import type { RecordType } from '../../interface/bodies.js';
import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import { isDeeper } from '../../interface/is-deeper.js';
import { MAX_USER_BYTES } from '../../interface/max-user-bytes.js';
import type { ClaimedRecord } from './parse-batch.js';

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

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

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
  const good = Object.fromEntries(known);
  if (bytesOf(String(good['user_id'] ?? '')) > MAX_USER_BYTES) return wrong('user_id');
  if (bytesOf(JSON.stringify(good)) > MAX_RECORD_BYTES)
    return { id, outcome: 'rejected', status: 413 };
  return { id, type, body: good, ...(isTime(called_at) && { called_at }) };
};
