import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import type { Tell } from '../hooks.js';
import { sleep } from '../time.js';
import { isFinal, recordKeyOf, retryLater, untried } from '../queue/record.js';
import { AGAIN, createBackoff, type Sender } from './backoff.js';
import { AGAIN_MS, type Claims } from './claims.js';
import type { DeliverableRecord, DeliverOptions, DeliveryOptions } from './delivery.js';
import { type Attempt, createBatchUpstream, createUpstream } from './upstream.js';

interface Effects extends DeliveryOptions {
  claims: Claims;
  timeout: number;
  now: () => number;
  /** The clock for waits. */
  ticks: () => number;
  random: () => number;
  tell: Tell;
}

/** Sends records to the service, a few at a time, and stops for a while when it fails. */
export const createSender = (effects: Effects) => {
  const { claims, now, random, tell, concurrency = 32, ticks } = effects;
  const backoff = createBackoff({ most: concurrency, now, ticks, random, tell });
  const inSlot = createSlots(backoff.allows);
  const attempt = createAttempt(effects);

  const senderOf = (record: DeliverableRecord, options: DeliverOptions): Sender => {
    const key = recordKeyOf(record);
    return { key, client: record.client || options.client || key, tries: record.tries };
  };

  /** Remembers results. For records of a queue it tries again until that is done or the time is over. */
  const remember = async (
    done: readonly (readonly [DeliverableRecord, BatchResult])[],
    { until, client = done[0]?.[0].client, isQueued }: DeliverOptions,
  ): Promise<void> => {
    if (!done.length) return;
    while (!(await claims.finish(done, { until, client }))) {
      if (!isQueued || now() >= until) return;
      await sleep(AGAIN_MS);
    }
  };

  /** Sends what may go now, in one call, and remembers what the service has decided. */
  const sendNow = async (
    records: readonly DeliverableRecord[],
    options: DeliverOptions,
  ): Promise<BatchResult[]> => {
    const waitMs = backoff.waitMs();
    const isOver = waitMs > 0 || now() >= options.until;
    const waits = records.map((record) =>
      isOver ? waitMs : backoff.clientWaitMs(senderOf(record, options).client),
    );
    const going = isOver ? [] : records.filter((_, index) => waits[index] === 0);
    const attempts = going.length ? await attempt(going, options) : [];
    going.forEach((record, index) => {
      const one = attempts[index]!;
      if (isFinal(one)) backoff.passed(senderOf(record, options));
      else backoff.failed(senderOf(record, options), one);
    });
    let next = 0;
    const results = records.map((record, index): BatchResult => {
      const { id } = record;
      if (isOver || waits[index]) return untried(retryLater(id, waits[index]!));
      const { outcome, status, retryAfterMs } = attempts[next++]!;
      if (outcome !== 'retry') return { id, outcome, status };
      // Retrying during a pause would be in vain.
      const { client } = senderOf(record, options);
      const pauseMs = Math.max(backoff.waitMs(), backoff.clientWaitMs(client));
      return retryLater(id, Math.max(retryAfterMs, pauseMs), status);
    });
    // Before the slot is free: a process that is killed has then sent at most `concurrency` calls
    // whose results are not remembered, and only these may be sent twice.
    const pairs = records.map((record, index) => [record, results[index]!] as const);
    await remember(
      pairs.filter(([, result]) => isFinal(result)),
      options,
    );
    return results;
  };

  /** How often a record has failed, as far as this process or its queue knows. */
  const triesOf = (record: DeliverableRecord): number =>
    backoff.triesOf(senderOf(record, { until: 0 }));

  return {
    ...backoff,
    triesOf,
    /** Sends records in one call, and answers one result for each, in their order. */
    send: async (
      records: readonly DeliverableRecord[],
      options: DeliverOptions,
    ): Promise<BatchResult[]> => {
      const [first] = records;
      if (!first) return [];
      const turn = records.every(triesOf) ? AGAIN : senderOf(first, options).client;
      return inSlot(turn, () => sendNow(records, options));
    },
  };
};

/**
 * Limits how many tasks run at a time. Clients take turns, so that one with many tasks does not hold up the
 * others. The tasks of one client start in order.
 */
export const createSlots = (
  allows: (underWay: number, client: string, ofClient: number) => boolean,
) => {
  let underWay = 0;
  const underWayOf = new Map<string, number>();
  /** Waiting tasks by client. The client whose turn it is comes first. */
  const waiting = new Map<string, (() => void)[]>();

  const change = (client: string, by: number): void => {
    const count = (underWayOf.get(client) ?? 0) + by;
    underWay += by;
    if (count) underWayOf.set(client, count);
    else underWayOf.delete(client);
  };
  /** Starts a task of the next client that may have one more. Answers whether there was one. */
  const startNext = (): boolean => {
    for (const [client, starts] of waiting) {
      if (!allows(underWay, client, underWayOf.get(client) ?? 0)) continue;
      const start = starts.shift()!;
      waiting.delete(client);
      if (starts.length) waiting.set(client, starts);
      change(client, 1);
      start();
      return true;
    }
    return false;
  };
  const fill = (): void => {
    while (waiting.size > 0 && allows(underWay, '', 0) && startNext());
  };

  return async <Result>(client: string, work: () => Promise<Result>): Promise<Result> => {
    await new Promise<void>((start) => {
      const starts = waiting.get(client);
      if (starts) starts.push(start);
      else waiting.set(client, [start]);
      fill();
    });
    try {
      return await work();
    } finally {
      change(client, -1);
      fill();
    }
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
