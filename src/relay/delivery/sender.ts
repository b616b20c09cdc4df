import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import type { Tell } from '../hooks.js';
import { sleep } from '../pause.js';
import { isFinal, retryLater } from '../queue/later.js';
import { createBreaker } from './breaker.js';
import { AGAIN_MS, type Claims } from './claims.js';
import type { DeliverOptions } from './delivery.js';
import type { DeliveryOptions } from './delivery-options.js';
import { createSlots } from './slots.js';
import { createUpstream } from './upstream.js';
import { createWidth } from './width.js';

interface Effects extends DeliveryOptions {
  claims: Claims;
  timeout: number;
  now: () => number;
  random: () => number;
  tell: Tell;
}

/** Sends records to the service, a few at a time, and stops for a while when it fails. */
export const createSender = (effects: Effects) => {
  const { claims, timeout, now, random, tell, token } = effects;
  const { concurrency = 32, failureThreshold = 4, idempotencyKey = true } = effects;
  const breaker = createBreaker({ failureThreshold, now, random, tell });
  const width = createWidth(concurrency);
  const inSlot = createSlots(width.allows);
  const upstream = createUpstream({
    baseUrl: effects.baseUrl,
    ...{ token, idempotencyKey, timeout, now, tell },
    // Called late, so that a wrapped global is used, and without `this`, which workerd would refuse.
    fetch: effects.fetch ?? ((...args) => fetch(...args)),
  });

  /** Remembers the result. For a record of a queue it tries again until that is done or the time is over. */
  const remember = async (
    record: BatchRecord,
    result: BatchResult,
    { until, client, isQueued }: DeliverOptions,
  ): Promise<void> => {
    while (!(await claims.finish([[record, result]], { until, client }))) {
      if (!isQueued || now() >= until) return;
      await sleep(AGAIN_MS);
    }
  };

  return {
    /** Milliseconds until it is worth asking the service; 0 when it is now. */
    waitMs: breaker.waitMs,
    send: (record: BatchRecord, options: DeliverOptions): Promise<BatchResult> =>
      inSlot(options.client ?? '', async () => {
        const { id } = record;
        const pass = now() < options.until ? await breaker.enter() : undefined;
        if (!pass) return retryLater(id, breaker.waitMs());
        const attempt = now() < options.until ? await upstream(record, options.address) : undefined;
        breaker.leave(pass, id, attempt);
        if (!attempt) return retryLater(id, 0);
        if (isFinal(attempt)) width.passed();
        else width.failed();
        const { outcome, status, retryAfterMs } = attempt;
        // Retrying while the breaker is still open would be in vain.
        if (outcome === 'retry')
          return retryLater(id, Math.max(retryAfterMs, breaker.waitMs()), status);
        const result: BatchResult = { id, outcome, status };
        // Before the slot is free: a process that is killed has then sent at most `concurrency` records
        // whose results are not remembered, and only these may be sent twice.
        if (isFinal(result)) await remember(record, result, options);
        return result;
      }),
  };
};
