import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import type { Tell } from '../hooks.js';
import { sleep } from '../pause.js';
import { isFinal, retryLater, untried } from '../queue/later.js';
import { recordKeyOf } from '../queue/record-key.js';
import { AGAIN_MS, type Claims } from './claims.js';
import type { DeliverOptions } from './delivery.js';
import type { DeliveryOptions } from './delivery-options.js';
import { createGate } from './gate.js';
import { createSlots } from './slots.js';
import { createBatchUpstream } from './batch-upstream.js';
import { createUpstream, type Attempt } from './upstream.js';

interface Effects extends DeliveryOptions {
  claims: Claims;
  timeout: number;
  now: () => number;
  random: () => number;
  tell: Tell;
}

/** Sends records to the service, a few at a time, and stops for a while when it fails. */
export const createSender = (effects: Effects) => {
  const { claims, now, random, tell, concurrency = 32 } = effects;
  const gate = createGate({ most: concurrency, now, random, tell });
  const inSlot = createSlots(gate.allows);
  const attempt = createAttempt(effects);

  /** Remembers results. For records of a queue it tries again until that is done or the time is over. */
  const remember = async (
    done: readonly (readonly [BatchRecord, BatchResult])[],
    { until, client, isQueued }: DeliverOptions,
  ): Promise<void> => {
    if (!done.length) return;
    while (!(await claims.finish(done, { until, client }))) {
      if (!isQueued || now() >= until) return;
      await sleep(AGAIN_MS);
    }
  };

  return {
    /** Milliseconds until it is worth asking the service; 0 when it is now. */
    waitMs: gate.waitMs,
    state: gate.state,
    /** Sends records in one call, and answers one result for each, in their order. */
    send: async (
      records: readonly BatchRecord[],
      options: DeliverOptions,
    ): Promise<BatchResult[]> => {
      if (!records.length) return [];
      return inSlot(options.client ?? '', async () => {
        const waitMs = gate.waitMs();
        if (waitMs > 0 || now() >= options.until) {
          return records.map(({ id }) => untried(retryLater(id, waitMs)));
        }
        const attempts = await attempt(records, options);
        records.forEach((record, index) => {
          const one = attempts[index]!;
          if (isFinal(one)) gate.passed();
          else gate.failed(recordKeyOf(record), one);
        });
        const results = records.map(({ id }, index): BatchResult => {
          const { outcome, status, retryAfterMs } = attempts[index]!;
          // Retrying during the pause would be in vain.
          if (outcome === 'retry')
            return retryLater(id, Math.max(retryAfterMs, gate.waitMs()), status);
          return { id, outcome, status };
        });
        // Before the slot is free: a process that is killed has then sent at most `concurrency` calls
        // whose results are not remembered, and only these may be sent twice.
        const pairs = records.map((record, index) => [record, results[index]!] as const);
        await remember(
          pairs.filter(([, result]) => isFinal(result)),
          options,
        );
        return results;
      });
    },
  };
};

type AttemptAll = (
  records: readonly BatchRecord[],
  options: DeliverOptions,
) => Promise<readonly Attempt[]>;

/** How records reach whoever takes them: each by a request to the service, or all in one call of `send`. */
const createAttempt = (effects: Effects): AttemptAll => {
  const { baseUrl, token, send, timeout, now, tell } = effects;
  if (send) {
    const attempt = createBatchUpstream({ send, timeout, now, tell });
    return (records, { client, address, request }) =>
      attempt(records, { client, address, request });
  }
  const attempt = createUpstream({
    baseUrl: baseUrl!,
    token: token!,
    idempotencyKey: effects.idempotencyKey ?? true,
    ...{ timeout, now, tell },
    // Called late, so that a wrapped global is used, and without `this`, which workerd would refuse.
    fetch: effects.fetch ?? ((...args) => fetch(...args)),
  });
  return async ([record], { address }) => [await attempt(record!, address)];
};
