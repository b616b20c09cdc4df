import { checkEvent, checkIdentify } from '../record/check-body.js';
import type { EventBody, IdentifyBody, RecordType } from '../types.js';
import type { BatchRecord } from '../wire.js';
import { isPlainJson } from './is-plain-json.js';
import type { ClaimedRecord } from './parse-batch.js';

interface Rules {
  projects: readonly string[];
  channels: readonly string[];
}

interface Operation {
  check: (body: unknown) => string | undefined;
  /** What the interface knows. The token can do more than the page may: nothing else goes with it. */
  fields: readonly string[];
}

const namesOf = <Body>(names: Record<keyof Body & string, true>): readonly string[] =>
  Object.keys(names);

const OPERATIONS: Readonly<Record<RecordType, Operation>> = {
  identify: {
    check: checkIdentify,
    fields: namesOf<IdentifyBody>({ project: true, user_id: true, properties: true }),
  },
  event: {
    check: checkEvent,
    fields: namesOf<EventBody>({
      project: true,
      channel: true,
      event: true,
      description: true,
      icon: true,
      notify: true,
      tags: true,
      user_id: true,
      timestamp: true,
    }),
  },
};

const isType = (type: unknown): type is RecordType => type === 'identify' || type === 'event';

/** The record as it may be passed on, or the status it is rejected with. */
export const checkRecord = (
  { id, type, body }: ClaimedRecord,
  { projects, channels }: Rules,
): BatchRecord | 400 | 403 => {
  if (!isType(type) || !isPlainJson(body)) return 400;
  const { check, fields } = OPERATIONS[type];
  if (check(body) !== undefined) return 400;
  const given = body as Record<string, unknown>; // the check says so
  if (!projects.includes(given['project'] as string)) return 403;
  if (type === 'event' && !channels.includes(given['channel'] as string)) return 403;
  const known = Object.entries(given).filter(([name]) => fields.includes(name));
  return { id, type, body: Object.fromEntries(known) };
};
