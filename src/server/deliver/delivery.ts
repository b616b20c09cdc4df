import { callback, timer } from '../../interface/kinds.js';
import type { BatchResult } from '../../interface/wire.js';
import { checkOptions, CLOCK_KINDS, count, HOOK_KINDS, type Kinds } from '../check-options.js';
import { createTell, type Hooks } from '../hooks.js';
import { keyOf, lineOf, type Incoming } from '../incoming.js';
import { PATIENCE } from '../queue/ports.js';
import { isFinal, retryLater, untried } from '../results.js';
import { monotonicNow } from '../time.js';
import { AGAIN, createBackoff, type Sender, type ServiceHealth } from './backoff.js';
import { createKnownIds } from './known-ids.js';
import { createSlots } from './slots.js';
import { createUpstream, UPSTREAM_KINDS, type UpstreamOptions } from './upstream.js';

/** Options of `createDelivery`. */
export interface DeliveryOptions extends Hooks, UpstreamOptions {
  /**
   * Requests to the service at a time at the most, over all batches. The number begins with 4, also after a failure or
   * when nothing was under way, and each success makes room for one more. @default 32
   */
  concurrency?: number | undefined;
  /** Records at the most that are being sent or wait for it; further ones are answered `retry`. @default 10000 */
  maxPending?: number | undefined;
  /** Milliseconds that a request may take. @default 10000 */
  timeout?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
  /** In place of `Math.random`. */
  random?: (() => number) | undefined;
}

export const DELIVERY_KINDS: Kinds<DeliveryOptions> = {
  ...UPSTREAM_KINDS,
  concurrency: count,
  maxPending: count,
  timeout: timer,
  ...HOOK_KINDS,
  ...CLOCK_KINDS,
};

/** A record to be delivered, and how often it has failed as far as a queue knows. */
export interface Deliverable extends Incoming {
  tries?: number | undefined;
}

export interface DeliverOptions {
  /**
   * No request starts after this time, in milliseconds since the epoch; one that has started may take its
   * `timeout`. It is read before each request, so a getter can end the delivery early.
   */
  until: number;
  /** Sent as `X-Forwarded-For`. */
  address?: string | undefined;
  /**
   * The records come from a queue, which knows repeats by itself, and has a refused record again because an operator
   * wants it sent. @default false
   */
  isQueued?: boolean | undefined;
}

export interface Delivery {
  /** How it stands with the service. */
  health: () => ServiceHealth;
  /** Milliseconds until it is worth asking the service; 0 when it is now. */
  waitMs: () => number;
  /** Milliseconds until records of this sender may go, while its records fail and those of others pass. */
  clientWaitMs: (sender: string) => number;
  /** Ends all waits at once, also one that the service has asked for. */
  tryNow: () => void;
  /**
   * Delivers records and answers with a promise of the result of each, in their order. Identifies of one user are sent
   * one at a time, and a user's events after the identifies before them, over all calls of one sender. An identify
   * that has failed three times while others pass lets the events behind it go.
   * Senders do not wait for each other: one that floods a user with identifies holds up only itself. A record
   * that was not sent is `retry`. None of the promises rejects.
   */
  deliver: (
    records: readonly Deliverable[],
    options: DeliverOptions,
  ) => readonly Promise<BatchResult>[];
}

/** An identify that is under way. */
interface Identify {
  sender: Sender;
  result: Promise<BatchResult>;
}

/** How long to wait when too many records are pending. */
const BUSY_MS = 2_000;

/**
 * Delivers records to the service: each once, those of one user in order, and no more at a time than there is
 * room for.
 *
 * @throws TypeError that names each wrong option and what to write.
 */
export const createDelivery = (options: DeliveryOptions): Delivery => {
  checkOptions('createDelivery', options, {
    kinds: { ...DELIVERY_KINDS, now: callback },
    required: ['baseUrl', 'token'],
  });
  return makeDelivery(options);
};

/** The same without a check of the options, for a relay that has checked them with its own. */
export const makeDelivery = (options: DeliveryOptions): Delivery => {
  const { timeout = 10_000, maxPending = 10_000, concurrency = 32 } = options;
  const { now = Date.now, random = Math.random } = options;
  const ticks = options.now ?? monotonicNow;
  const tell = createTell(options);
  const backoff = createBackoff({ most: concurrency, now, ticks, random, tell });
  const inSlot = createSlots(backoff.allows);
  const tryOnce = createUpstream({ ...options, timeout, now, tell });
  const known = createKnownIds(now);
  /** Results of records that are under way, which a repeat shares. */
  const running = new Map<string, Promise<BatchResult>>();
  /** The last identify that is under way, of each user of a sender. */
  const identifies = new Map<string, Identify>();

  const senderOf = (record: Deliverable, key: string): Sender => ({
    key,
    client: record.sender || key,
    tries: record.tries,
  });

  /** Sends a record that may go now. */
  const sendNow = async (
    record: Deliverable,
    sender: Sender,
    options: DeliverOptions,
  ): Promise<BatchResult> => {
    const waitMs = (): number => Math.max(backoff.waitMs(), backoff.clientWaitMs(sender.client));
    if (waitMs() > 0 || now() >= options.until) return untried(retryLater(record.id, waitMs()));
    const began = ticks();
    const attempt = await tryOnce(record, options.address);
    if (isFinal(attempt)) backoff.passed(sender);
    else backoff.failed(sender, attempt, began);
    const { outcome, status, retryAfterMs, message } = attempt;
    // Retrying during a pause would be in vain.
    if (outcome === 'retry') return retryLater(record.id, Math.max(retryAfterMs, waitMs()), status);
    const words = outcome === 'rejected' && message && { message };
    return { id: record.id, outcome, status, ...words };
  };

  /** Sends a record once what it waits for has been delivered. */
  const deliverOne = (
    record: Deliverable,
    key: string,
    options: DeliverOptions,
  ): Promise<BatchResult> => {
    const sender = senderOf(record, key);
    const line = lineOf(record);
    const before = line ? identifies.get(line) : undefined;

    const deliver = async (): Promise<BatchResult> => {
      const result = await before?.result;
      const mayPass =
        record.type === 'event' && before && backoff.triesOf(before.sender) >= PATIENCE;
      if (result && !isFinal(result) && !mayPass) return untried({ ...result, id: record.id });
      const turn = backoff.triesOf(sender) ? AGAIN : sender.client;
      return inSlot(turn, () => sendNow(record, sender, options));
    };
    const result = deliver();
    if (line && record.type === 'identify') {
      const own = { sender, result };
      identifies.set(line, own);
      void result.then(() => identifies.get(line) === own && identifies.delete(line));
    }
    return result;
  };

  const start = (
    record: Deliverable,
    key: string,
    options: DeliverOptions,
  ): Promise<BatchResult> => {
    if (running.size >= maxPending) return Promise.resolve(untried(retryLater(record.id, BUSY_MS)));
    const result = deliverOne(record, key, options);
    running.set(key, result);
    void result.then((done) => {
      running.delete(key);
      if (isFinal(done)) known.keep(key, record.sender ?? '', done);
    });
    return result;
  };

  return {
    health: backoff.health,
    clientWaitMs: backoff.clientWaitMs,
    tryNow: backoff.tryNow,
    waitMs: () => Math.max(backoff.waitMs(), running.size >= maxPending ? BUSY_MS : 0),
    deliver: (records, options) =>
      records.map((record) => {
        const key = keyOf(record);
        const remembered = options.isQueued ? undefined : known.find(key);
        const result = running.get(key) ?? (remembered && Promise.resolve(remembered));
        if (!result) return start(record, key, options);
        tell.metric('seen_hits', 1);
        return result;
      }),
  };
};
