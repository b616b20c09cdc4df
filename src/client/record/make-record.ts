import { messageOf } from '../../interface/errors.js';
import type { Draft, OutboxRecord } from '../types.js';
import { byteLength } from './byte-length.js';
import type { Made } from './call.js';
import { problemOf } from './draft.js';
import { gatherBody, type Hint } from './gather-tags.js';
import { toJson } from './to-json.js';

interface Rules {
  beforeSend?: ((draft: Draft) => Draft | null) | undefined;
  maxRecordBytes: number;
}

const filtered = (draft: Draft, { beforeSend }: Rules, hint: Hint): Made<Draft> => {
  if (!beforeSend) return { value: draft };
  try {
    const kept = beforeSend(draft);
    if (kept === null) return { reason: 'before-send', message: 'beforeSend returned null' };
    if (kept?.type !== draft.type || !kept.body || typeof kept.body !== 'object') {
      return { reason: 'before-send-error', message: 'beforeSend returned no record' };
    }
    return problemOf(kept) ?? { value: gatherBody(kept, hint) };
  } catch (error) {
    // Dropped and not sent: a filter that throws may have been about to remove something private.
    return { reason: 'before-send-error', message: messageOf(error) };
  }
};

/** Makes the record of a draft: `beforeSend` may change it, then it becomes JSON text, once. */
export const makeRecord = (
  draft: Draft,
  at: number,
  id: string,
  rules: Rules,
  hint: Hint,
): Made<OutboxRecord> => {
  const kept = filtered(draft, rules, hint);
  if (!('value' in kept)) return kept;
  let body: string;
  try {
    const text = toJson(kept.value.body);
    if (!text) throw new TypeError('the body has no JSON form');
    body = text;
  } catch (error) {
    return { reason: 'not-serializable', message: messageOf(error) };
  }
  // A UTF-16 unit takes at most three bytes in UTF-8, so most bodies need no counting.
  if (body.length * 3 > rules.maxRecordBytes && byteLength(body) > rules.maxRecordBytes) {
    const message = `the body has ${byteLength(body)} bytes, maxRecordBytes is ${rules.maxRecordBytes}`;
    return { reason: 'too-large', message };
  }
  const record: OutboxRecord = { id, type: kept.value.type, body, at, attempts: 0 };
  const user = kept.value.body.user_id;
  if (user !== undefined) record.user = user;
  return { value: record };
};
