import type { OutboxRecord } from '../types.js';
import type { BatchResult } from '../../interface/wire.js';
import { boundedWait } from '../../interface/backoff.js';
import type { Attempt } from './sender.js';

const outcomeOf = (outcome: unknown): Attempt['outcome'] => {
  // `accepted`: the record is in the relay's queue, and the relay delivers it.
  if (outcome === 'accepted' || outcome === 'delivered') return 'delivered';
  // Without a result, or with one that this version does not know, nobody has said that the record was taken.
  return outcome === 'blocked' || outcome === 'rejected' ? outcome : 'retry';
};

/** The record has a value that is not in the relay's lists. */
const unlistedProblem = (field: string, body: string): string => {
  const value = (JSON.parse(body) as Record<string, unknown>)[field];
  return `the relay does not list the ${field} ${JSON.stringify(value)}: add it to the relay's list \`${field}s\``;
};

const attemptOf = (result: Partial<BatchResult> = {}, { body }: OutboxRecord): Attempt => {
  const { outcome, retry_after: seconds, unlisted } = result;
  const status = Number(result.status) || 0;
  return {
    outcome: outcomeOf(outcome),
    status,
    retryAfterMs: boundedWait(Number(seconds) * 1_000),
    problem: unlisted
      ? unlistedProblem(unlisted, body)
      : `the service ${status ? `refuses the relay (${status})` : 'does not answer the relay'}: check the relay's own set-up`,
    isUnlisted: !!unlisted,
  };
};

/** Reads from a relay's answer what became of each record. Undefined if it is no such answer. */
export const readResults = (
  { status, body }: { status: number; body: string },
  records: readonly OutboxRecord[],
): Attempt[] | undefined => {
  if (status !== 200) return undefined;
  try {
    const { results } = JSON.parse(body) as { results: (Partial<BatchResult> | undefined)[] };
    const byId = new Map(results.map((result) => [result?.id, result]));
    return records.map((record) => attemptOf(byId.get(record.id), record));
  } catch {
    return undefined; // cut off, or no relay's answer
  }
};
