import type { Token } from '../../interface/bodies.js';
import { callback, flag, positive, token, url } from '../../interface/kinds.js';
import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import { isFinal, retryLater, unclaimed, untried } from '../queue/record.js';
import { PATIENCE, type Seen, type Sighting } from '../queue/ports.js';
import {
  checkOptions,
  CLOCK_KINDS,
  count,
  HOOK_KINDS,
  type Kinds,
  objectWith,
} from '../check-options.js';
import { monotonicNow } from '../time.js';
import { createTell, type Hooks } from '../hooks.js';
import type { ServiceState } from './backoff.js';
import { createClaims, createRunning } from './claims.js';
import type { ServiceFetch } from './fetch.js';
import { createSender } from './sender.js';
import type { Send } from './upstream.js';

/** Options of `createDelivery`. */
export interface DeliveryOptions extends Hooks {
  /**
   * Address of the service, to which `/v1/event` and `/v1/identify` are added.
   * @default required without send
   */
  baseUrl?: string | undefined;
  /** The service's token, or a function that gets it; asked again once after a 401. @default required without send */
  token?: Token | undefined;
  /**
   * Takes records in one call, in place of a request each to `baseUrl`: a service in the same process. Calls may be
   * under way at a time, so `called_at` tells which of a user's identifies is the later one.
   * @default none
   */
  send?: Send | undefined;
  /** The ids that have been passed on. */
  seen: Seen;
  /** Send the record's id to the service as `Idempotency-Key`. @default true */
  idempotencyKey?: boolean | undefined;
  /**
   * Requests to the service at a time at the most, over all batches. It begins with 4, and again after a
   * failure or when nothing was under way; each success makes room for one more. @default 32
   */
  concurrency?: number | undefined;
  /** Records that are being sent or wait to be sent, at the most. Those beyond are `retry`. @default 10000 */
  maxPending?: number | undefined;
  /** Milliseconds one try may take. @default 10000 */
  timeout?: number | undefined;
  /** In place of the global `fetch`; on Node, `createNodeFetch` of `relay/node` costs far less. */
  fetch?: ServiceFetch | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
  /** In place of `Math.random`. */
  random?: (() => number) | undefined;
}

export const DELIVERY_KINDS: Kinds<DeliveryOptions> = {
  baseUrl: url,
  token,
  send: callback,
  seen: objectWith('begin', 'finish', 'forget'),
  idempotencyKey: flag,
  concurrency: count,
  maxPending: count,
  timeout: positive,
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
  state: () => ServiceState;
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
  const takesBatches = !!options.send;
  const { timeout = 10_000, maxPending = 10_000, now = Date.now, random = Math.random } = options;
  const tell = createTell(options);
  const join = createRunning(tell);
  const claims = createClaims(options.seen, now, tell);
  const ticks = options.now ?? monotonicNow;
  const sender = createSender({ ...options, timeout, claims, now, ticks, random, tell });
  /** Records that have no result yet. */
  let pending = 0;
  /** The last identify that is under way, of each user of a client. */
  const identifies = new Map<string, Identify>();

  /** What is known of a record without sending it, if anything. */
  const knownOf = (
    { id }: BatchRecord,
    sighting: Sighting | undefined,
    { isQueued }: DeliverOptions,
  ): BatchResult | undefined => {
    if (!sighting || (sighting.state === 'begun' && !isQueued)) return unclaimed(id, sighting);
    const isDone =
      sighting.state === 'done' && (!isQueued || sighting.result.outcome === 'delivered');
    if (isDone) tell.metric('seen_hits', 1);
    return isDone ? sighting.result : undefined;
  };

  /** Delivers records in one call, once what they wait for has been delivered. */
  const deliverGroup = async (
    group: readonly DeliverableRecord[],
    sightings: readonly Promise<Sighting | undefined>[],
    options: DeliverOptions,
    identify?: Identify,
  ): Promise<BatchResult[]> => {
    const sighted = await Promise.all(sightings);
    const known = group.map((record, index) => knownOf(record, sighted[index], options));
    const unknown = group.filter((_, index) => !known[index]);
    const before = identify && unknown.length ? await identify.result : undefined;
    const mayPass = unknown.every(({ type }) => type === 'event');
    const isHeld =
      before && !isFinal(before) && !(mayPass && sender.triesOf(identify!.record) >= PATIENCE);
    const sent = isHeld
      ? unknown.map(({ id }) => untried({ ...before, id }))
      : await sender.send(unknown, options);
    const failed = unknown.filter((_, index) => !isFinal(sent[index]!));
    if (failed.length && !options.isQueued) await claims.forget(failed, options.until);
    let next = 0;
    return known.map((result) => result ?? sent[next++]!);
  };

  /** Starts each record by itself, identifies of a user one after the other. */
  const startEach = (
    fresh: readonly DeliverableRecord[],
    sightings: readonly Promise<Sighting | undefined>[],
    options: DeliverOptions,
  ): readonly Promise<BatchResult>[] =>
    fresh.map((record, index) => {
      const user = userOf(record, record.client ?? options.client);
      const before = user ? identifies.get(user) : undefined;
      const result = deliverGroup([record], [sightings[index]!], options, before).then(
        ([only]) => only!,
      );
      if (user && record.type === 'identify') {
        const identify = { record, result };
        identifies.set(user, identify);
        void result.then(() => {
          if (identifies.get(user) === identify) identifies.delete(user);
        });
      }
      return result;
    });

  const startAll = (
    fresh: readonly DeliverableRecord[],
    options: DeliverOptions,
  ): readonly Promise<BatchResult>[] => {
    // The longest it may take: the token is asked for twice, and the record is sent twice.
    const { until, client, isQueued } = options;
    const claimMs = Math.max(0, until - now()) + 4 * timeout;
    const sightings = claims.claim(fresh, { claimMs, until, client, again: !isQueued });
    if (!takesBatches) return startEach(fresh, sightings, options);
    const all = deliverGroup(fresh, sightings, options);
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
    const beyond = fresh.slice(room).map(async ({ id }) => retryLater(id, BUSY_MS));
    return [...results, ...beyond];
  };

  return {
    state: sender.state,
    clientWaitMs: sender.clientWaitMs,
    tryNow: sender.tryNow,
    waitMs: () => Math.max(sender.waitMs(), pending >= maxPending ? BUSY_MS : 0),
    deliver: (records, options) => join(records, (fresh) => start(fresh, options)),
  };
};

/** An identify that is under way. */
interface Identify {
  record: DeliverableRecord;
  result: Promise<BatchResult>;
}

/** The key of the user and client whose record it is; undefined for an event without a user. */
const userOf = ({ body }: BatchRecord, client = ''): string | undefined => {
  const { project, user_id: user } = body as { project?: unknown; user_id?: unknown };
  return typeof user === 'string' ? JSON.stringify([client, project, user]) : undefined;
};
