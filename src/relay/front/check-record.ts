import { FIELDS, wrongField } from '../../interface/validate.js';
import type { RecordType } from '../../interface/bodies.js';
import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import { isPlainJson } from './is-plain-json.js';
import type { ClaimedRecord } from './parse-batch.js';

interface Rules {
  projects: readonly string[];
  channels: readonly string[];
}

/** Not by `in` or the like: `['event']` would pass as a key. */
const isType = (type: unknown): type is RecordType => type === 'identify' || type === 'event';

/**
 * The record as it may be passed on, or what it comes to. A value that is not listed may be so tomorrow: a
 * page may be newer than the lists. So its record stays the page's.
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
  // Only what the interface knows: the token can do more than the page may.
  const known = Object.entries(given).filter(([name]) => Object.hasOwn(FIELDS[type], name));
  return { id, type, body: Object.fromEntries(known) };
};
