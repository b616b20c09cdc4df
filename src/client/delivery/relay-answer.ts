import type { OutboxRecord } from '../types.js';
import type { BatchResult, RelayOutcome } from '../../interface/wire.js';
import { MAX_RETRY_AFTER_MS } from '../../interface/backoff.js';
import type { Verdict } from '../../interface/outcome.js';
import { isRefusal } from './attempt-of.js';
import type { Attempt } from './sender.js';

/** `accepted` stands in the relay's queue: the rest is the relay's care. */
const OUTCOMES: Record<RelayOutcome, Verdict['outcome']> = {
  delivered: 'delivered',
  accepted: 'delivered',
  retry: 'retry',
  blocked: 'blocked',
  rejected: 'rejected',
};

const problemOf = ({ outcome, status, unlisted }: Partial<BatchResult>, body: string): string => {
  if (outcome === 'rejected') return `the relay answered ${status}`;
  if (!unlisted) return `the service refuses the relay (${status}): check the relay's own set-up`;
  const value = (JSON.parse(body) as Record<string, unknown>)[unlisted];
  return `the relay does not list the ${unlisted} ${JSON.stringify(value)}: add it to the relay's list \`${unlisted}s\``;
};

const attemptOf = (result: Partial<BatchResult> = {}, { body }: OutboxRecord): Attempt => {
  const { outcome, status, retry_after: seconds, unlisted } = result;
  const verdict: Verdict = {
    // No result, or none that this version knows: nobody has said that it was taken.
    outcome: (Object.hasOwn(OUTCOMES, outcome ?? '') && OUTCOMES[outcome!]) || 'retry',
    status: Number(status) || 0,
  };
  const ms = Math.min(Math.max(Number(seconds) * 1_000 || 0, 0), MAX_RETRY_AFTER_MS);
  return {
    ...verdict,
    retryAfterMs: ms,
    wasLeft: false,
    ...(isRefusal(verdict) && { problem: problemOf(result, body), isOwn: !!unlisted }),
  };
};

/** What a relay's answer says of each record, by its id; undefined where it is no such answer. */
export const readResults = (
  { status, body }: { status: number; body: string },
  records: readonly OutboxRecord[],
): Attempt[] | undefined => {
  if (status !== 200) return undefined;
  try {
    const { results } = JSON.parse(body) as { results?: unknown };
    if (!Array.isArray(results)) return undefined;
    const byId = new Map<unknown, Partial<BatchResult>>();
    for (const result of results as (Partial<BatchResult> | null)[]) {
      if (result) byId.set(result.id, result);
    }
    return records.map((record) => attemptOf(byId.get(record.id), record));
  } catch {
    return undefined; // cut off, or no relay's answer
  }
};
