import { callback, flag, timer, token, url } from '../../interface/kinds.js';
import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import {
  checkOptions,
  CLOCK_KINDS,
  count,
  HOOK_KINDS,
  type Kinds,
  objectWith,
} from '../check-options.js';
import { createTell, type Hooks } from '../hooks.js';
import { PATIENCE, type Seen } from '../queue/ports.js';
import { isFinal, lineOf, recordKeyOf, retryLater, untried } from '../queue/record.js';
import { monotonicNow, sleep } from '../time.js';
import { AGAIN, createBackoff, type Sender, type ServiceHealth } from './backoff.js';
import { AGAIN_MS, createClaims, createRunning, KEPT, type Sightings } from './claims.js';
import { createSlots } from './slots.js';
import { createUpstream, type UpstreamOptions } from './upstream.js';

/** Options of `createDelivery`. */
export interface DeliveryOptions extends Hooks, UpstreamOptions {
  /** The ids that have been passed on. */
  seen: Seen;
  /**
   * Requests to the service at a time at the most, over all batches. It begins with 4, and again after a
   * failure or when nothing was under way; each success makes room for one more. @default 32
   */
  concurrency?: number | undefined;
  /** Records that are being sent or wait to be sent, at the most. Those beyond are `retry`. @default 10000 */
  maxPending?: number | undefined;
  /** Milliseconds one try may take. @default 10000 */
  timeout?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
  /** In place of `Math.random`. */
  random?: (() => number) | undefined;
}

export const DELIVERY_KINDS: Kinds<DeliveryOptions> = {
  baseUrl: url,
  token,
  send: callback,
  pace: callback,
  seen: objectWith('begin', 'finish', 'forget'),
  idempotencyKey: flag,
  concurrency: count,
  maxPending: count,
  timeout: timer,
  fetch: callback,
  ...HOOK_KINDS,
  ...CLOCK_KINDS,
};

/** Records go to an address, with a token, unless there is a function that takes them. */
export const requiredFor = (
  options: Pick<DeliveryOptions, 'send'> | null,
): readonly ('baseUrl' | 'token')[] => (options?.send ? [] : ['baseUrl', 'token']);

/** A record to be delivered, with what a queue knows of it. */
export interface DeliverableRecord extends BatchRecord {
  /** Who sent it: an opaque word. */
  client?: string;
  /** How often it has failed. */
  tries?: number;
}

export interface DeliverOptions {
  /**
   * No request starts after this time, in milliseconds since the epoch; one that has started may take its
   * `timeout`. It is read before each request, so a getter can end the delivery early.
   */
  until: number;
  /**
   * The records come from a queue that gives each to one consumer at a time. Only what is remembered as
   * delivered is not sent: `accepted` and `begun` are the queue's own marks, and a refused record is here
   * again because an operator wants it sent. @default false
   */
  isQueued?: boolean | undefined;
  /**
   * Whose records these are, where these do not say it. Clients that wait for a request to the service take turns, and
   * what fails is judged by client. @default each record is its own
   */
  client?: string | undefined;
  /** Sent as `X-Forwarded-For`. */
  address?: string | undefined;
  /** The request that the records came in, for `send`; unknown where they come from a queue. */
  request?: Request | undefined;
}

export interface Delivery {
  /** How it stands with the service. */
  health: () => ServiceHealth;
  /** Milliseconds until it is worth asking the service; 0 when it is now. */
  waitMs: () => number;
  /** Milliseconds until records of this client may go, while its records fail and those of others pass. */
  clientWaitMs: (client: string) => number;
  /** Ends all waits at once, also one that the service has asked for. */
  tryNow: () => void;
  /**
   * Delivers records and answers with one result for each, in their order. Identifies of one user are sent
   * one at a time, and a user's events after the identifies before them, over all calls of one client. An identify
   * that has failed three times while others pass lets the events behind it go.
   * Clients do not wait for each other: one that floods a user with identifies holds up only itself. A record
   * that was not sent is `retry`. Never rejects.
   */
  deliver: (
    records: readonly DeliverableRecord[],
    options: DeliverOptions,
  ) => Promise<BatchResult[]>;
  /** The same with a promise for each record, for a caller that does not wait for the slowest. None rejects. */
  deliverEach: (
    records: readonly DeliverableRecord[],
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
    kinds: DELIVERY_KINDS,
    required: [...requiredFor(options), 'seen'],
  });
  return makeDelivery(options);
};

/** The same without a check of the options, for a relay that has checked them with its own. */
export const makeDelivery = (options: DeliveryOptions): Delivery => {
  const { timeout = 10_000, maxPending = 10_000, concurrency = 32, seen } = options;
  const { now = Date.now, random = Math.random } = options;
  const ticks = options.now ?? monotonicNow;
  const tell = createTell(options);
  const join = createRunning(tell);
  const claims = createClaims(seen, now, tell);
  const backoff = createBackoff({ most: concurrency, now, ticks, random, tell });
  const inSlot = createSlots(backoff.allows);
  const takesBatches = !!options.send;
  const tryAll = createUpstream({ ...options, timeout, now, tell });
  /** Records that have no result yet. */
  let pending = 0;
  /** The last identify that is under way, of each user of a client. */
  const identifies = new Map<string, Identify>();

  const senderOf = (record: DeliverableRecord, options: DeliverOptions): Sender => {
    const key = recordKeyOf(record);
    return { key, client: record.client || options.client || key, tries: record.tries };
  };

  /** Remembers results. For records of a queue it tries again until that is done or the time is over. */
  const remember = async (
    records: readonly DeliverableRecord[],
    results: readonly BatchResult[],
    { until, client = records[0]?.client, isQueued }: DeliverOptions,
  ): Promise<void> => {
    if (!records.length) return;
    while (!(await claims.finish(records, results, { until, client }))) {
      if (!isQueued || now() >= until) return;
      await sleep(AGAIN_MS);
    }
  };

  /** Sends what may go now, in one call, and remembers what the service has decided. */
  const sendNow = async (
    records: readonly DeliverableRecord[],
    senders: readonly Sender[],
    options: DeliverOptions,
  ): Promise<BatchResult[]> => {
    const { client, address, request } = options;
    const waitOf = ({ client }: Sender) => Math.max(backoff.waitMs(), backoff.clientWaitMs(client));
    const waits = senders.map(waitOf);
    const isOver = now() >= options.until;
    const going = isOver ? [] : records.filter((_, index) => !waits[index]);
    const began = ticks();
    const attempts = going.length ? await tryAll(going, { client, address, request }) : [];
    const made = records.map((record) => attempts[going.indexOf(record)]);
    made.forEach((attempt, index) => {
      if (!attempt) return;
      if (isFinal(attempt)) backoff.passed(senders[index]!);
      else backoff.failed(senders[index]!, attempt, began);
    });
    const results = records.map(({ id }, index): BatchResult => {
      const attempt = made[index];
      if (!attempt) return untried(retryLater(id, waits[index]!));
      const { outcome, status, retryAfterMs, message } = attempt;
      const words = outcome === 'rejected' && message && { message };
      if (outcome !== 'retry') return { id, outcome, status, ...words };
      // Retrying during a pause would be in vain.
      return retryLater(id, Math.max(retryAfterMs, waitOf(senders[index]!)), status);
    });
    // Before the slot is free: a process that is killed has then sent at most `concurrency` calls
    // whose results are not remembered, and only these may be sent twice.
    const final = records.filter((_, index) => isFinal(results[index]!));
    await remember(final, results.filter(isFinal), options);
    return results;
  };

  const send = (records: readonly DeliverableRecord[], options: DeliverOptions) => {
    const senders = records.map((record) => senderOf(record, options));
    const turn = senders.every(backoff.triesOf) ? AGAIN : senders[0]!.client;
    return inSlot(turn, () => sendNow(records, senders, options));
  };

  /** Delivers a record once what it waits for has been delivered. */
  const deliverOne = (
    record: DeliverableRecord,
    sighting: Sightings[number],
    options: DeliverOptions,
  ): Promise<BatchResult> => {
    const { client = options.client, type, id } = record;
    const line = lineOf({ ...record, ...(client && { client }) });
    const identify = line ? identifies.get(line) : undefined;

    const pass = async (fresh: readonly DeliverableRecord[]): Promise<BatchResult[]> => {
      const before = await identify?.result;
      const mayPass = type === 'event' && identify && backoff.triesOf(identify.sender) >= PATIENCE;
      if (before && !KEPT.includes(before.outcome) && !mayPass) return [untried({ ...before, id })];
      return send(fresh, options);
    };
    const result = claims.passOn([record], [sighting], options, pass).then(([only]) => only!);
    if (line && type === 'identify') {
      const own = { sender: senderOf(record, options), result };
      identifies.set(line, own);
      void result.then(() => identifies.get(line) === own && identifies.delete(line));
    }
    return result;
  };

  const startAll = (
    fresh: readonly DeliverableRecord[],
    options: DeliverOptions,
  ): readonly Promise<BatchResult>[] => {
    // The longest it may take: the token is asked for twice, and the record is sent twice.
    const { until, client, isQueued } = options;
    const claimMs = Math.max(0, until - now()) + 4 * timeout;
    const sightings = claims.claim(fresh, { claimMs, until, client, again: !isQueued });
    if (!takesBatches)
      return fresh.map((record, index) => deliverOne(record, sightings[index]!, options));
    const all = claims.passOn(fresh, sightings, options, (unknown) => send(unknown, options));
    return fresh.map((_, index) => all.then((results) => results[index]!));
  };
  /** Starts as many records as `maxPending` allows; the others are `retry`. */
  const start = (
    fresh: readonly DeliverableRecord[],
    options: DeliverOptions,
  ): readonly Promise<BatchResult>[] => {
    const room = Math.max(0, maxPending - pending);
    const results = room > 0 ? startAll(fresh.slice(0, room), options) : [];
    pending += results.length;
    for (const result of results) void result.then(() => pending--);
    const beyond = fresh.slice(room).map(async ({ id }) => untried(retryLater(id, BUSY_MS)));
    return [...results, ...beyond];
  };

  const deliverEach: Delivery['deliverEach'] = (records, options) =>
    join(records, (fresh) => start(fresh, options));

  return {
    health: backoff.health,
    clientWaitMs: backoff.clientWaitMs,
    tryNow: backoff.tryNow,
    waitMs: () => Math.max(backoff.waitMs(), pending >= maxPending ? BUSY_MS : 0),
    deliver: (...batch) => Promise.all(deliverEach(...batch)),
    deliverEach,
  };
};
