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
import { createUpstream } from './upstream.js';

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
  const { concurrency = 32, idempotencyKey = true } = effects;
  const gate = createGate({ most: concurrency, now, random, tell });
  const inSlot = createSlots(gate.allows);
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
    waitMs: gate.waitMs,
    state: gate.state,
    send: (record: BatchRecord, options: DeliverOptions): Promise<BatchResult> =>
      inSlot(options.client ?? '', async () => {
        const { id } = record;
        const waitMs = gate.waitMs();
        if (waitMs > 0 || now() >= options.until) return untried(retryLater(id, waitMs));
        const attempt = await upstream(record, options.address);
        const { outcome, status, retryAfterMs } = attempt;
        if (isFinal({ outcome })) gate.passed();
        else gate.failed(recordKeyOf(record), attempt);
        // Retrying during the pause would be in vain.
        if (outcome === 'retry')
          return retryLater(id, Math.max(retryAfterMs, gate.waitMs()), status);
        const result: BatchResult = { id, outcome, status };
        // Before the slot is free: a process that is killed has then sent at most `concurrency` records
        // whose results are not remembered, and only these may be sent twice.
        if (isFinal(result)) await remember(record, result, options);
        return result;
      }),
  };
};
