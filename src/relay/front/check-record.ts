import { FIELDS, wrongField } from '../../interface/validate.js';
import type { RecordType } from '../../interface/bodies.js';
import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import { isPlainJson } from './is-plain-json.js';
import type { ClaimedRecord } from './parse-batch.js';

interface Rules {
  projects: readonly string[];
  channels: readonly string[];
}

/** Compares the values: with `in`, the list `['event']` would pass as a key. */
const isType = (type: unknown): type is RecordType => type === 'identify' || type === 'event';

/**
 * The record as it goes to the service, or the result that refuses it. A value that is not listed is
 * `blocked`, not `rejected`: a page may be newer than the lists, and keeps the record until they have caught
 * up.
 */
export const checkRecord = (
  { id, type, body }: ClaimedRecord,
  { projects, channels }: Rules,
): BatchRecord | BatchResult => {
  const rejected: BatchResult = { id, outcome: 'rejected', status: 400 };
  if (!isType(type) || !isPlainJson(body)) return rejected;
  if (wrongField(type, body)) return rejected;
  const given = body as Record<string, unknown>; // the check says so
  const blocked = { id, outcome: 'blocked', status: 403 } as const;
  if (!projects.includes(given['project'] as string)) return { ...blocked, unlisted: 'project' };
  if (type === 'event' && !channels.includes(given['channel'] as string)) {
    return { ...blocked, unlisted: 'channel' };
  }
  // Fields that the interface does not know are left out: the token may allow more than a page may do.
  const known = Object.entries(given).filter(([name]) => Object.hasOwn(FIELDS[type], name));
  return { id, type, body: Object.fromEntries(known) };
};
