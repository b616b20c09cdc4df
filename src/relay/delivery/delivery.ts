import type { Token } from '../../interface/bodies.js';
import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import { createBreaker } from './breaker.js';
import { AGAIN_MS, createClaims } from './claims.js';
import { createTell, type Hooks } from '../hooks.js';
import { isFinal, later, unclaimed } from '../queue/later.js';
import { sleep } from '../pause.js';
import type { Seen, Sighting } from '../queue/ports.js';
import { createRunning } from './running.js';
import type { ServiceFetch } from '../service-fetch.js';
import { createSlots } from './slots.js';
import { createUpstream } from './upstream.js';
import { createWidth } from './width.js';

export interface DeliveryOptions extends Hooks {
  /** Address of the service, to which `/v1/event` and `/v1/identify` are added. */
  baseUrl: string;
  /** The service's token, or a function that gets it; asked again once after a 401. */
  token: Token;
  /** The ids that have been passed on. */
  seen: Seen;
  /** Send the record's id to the service as `Idempotency-Key`. @default true */
  idempotencyKey?: boolean | undefined;
  /**
   * Requests to the service at a time at the most, over all batches. It begins with 4, and again after a
   * failure or when nothing was under way; each success makes room for one more. @default 32
   */
  concurrency?: number | undefined;
  /** Records that are under way or wait for it at the most; what comes beyond is `retry`. @default 10000 */
  maxPending?: number | undefined;
  /** Milliseconds one try may take. @default 10000 */
  timeout?: number | undefined;
  /** Failures in a row after which the service is left alone for a while. @default 4 */
  failures?: number | undefined;
  /** In place of the global `fetch`; on Node, `createNodeFetch` of `relay/node` costs far less. */
  fetch?: ServiceFetch | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
  /** In place of `Math.random`. */
  random?: (() => number) | undefined;
}

export interface DeliverOptions {
  /**
   * No try starts after this time, milliseconds since the epoch. One under way has its `timeout`. Read
   * before each try, so a getter may end it all early.
   */
  until: number;
  /**
   * The records come from a queue that gives each to one consumer at a time: `accepted` and begun are
   * its own marks, and only what is delivered or rejected is not sent again. @default false
   */
  isQueued?: boolean | undefined;
  /** Whose records these are. Clients that wait for a request to the service take turns. @default one client */
  client?: string | undefined;
  /** Sent as `X-Forwarded-For`. */
  address?: string | undefined;
}

export interface Delivery {
  /** Milliseconds until it is worth asking the service; 0 when it is now. */
  waitMs: () => number;
  /**
   * Passes records on and says what they came to, one result a record, in their order. Identifies of
   * one user go one at a time, and a user's events after the identifies before them, over all calls of
   * one client. Other clients do not wait: whoever floods a user with identifies holds up only itself.
   * What was not tried is `retry`. Never rejects.
   */
  deliver: (records: readonly BatchRecord[], options: DeliverOptions) => Promise<BatchResult[]>;
}

/** How long who finds no room is told to wait. */
const BUSY_MS = 2_000;

/** The way of records to the service: order, requests at a time, repeats, and patience. */
export const createDelivery = (options: DeliveryOptions): Delivery => {
  const { timeout = 10_000, concurrency = 32, failures = 4, idempotencyKey = true } = options;
  const { maxPending = 10_000 } = options;
  const { now = Date.now, random = Math.random } = options;
  const tell = createTell(options);
  const breaker = createBreaker({ failures, now, random, tell });
  const width = createWidth(concurrency);
  const inSlot = createSlots(width.allows);
  const join = createRunning(tell);
  const claims = createClaims(options.seen, now, tell);
  const upstream = createUpstream({
    baseUrl: options.baseUrl,
    token: options.token,
    idempotencyKey,
    timeout,
    // Late and bare, so that a wrapped global is used, and workerd does not see a foreign `this`.
    fetch: options.fetch ?? ((...args) => fetch(...args)),
    now,
    tell,
  });
  /** Records that have no result yet. */
  let pending = 0;
  /** The last identify that is under way, of each user of a client. */
  const identifies = new Map<string, Promise<BatchResult>>();

  /** For a record of a queue until it is kept, or no try starts any more. */
  const mark = async (
    record: BatchRecord,
    result: BatchResult,
    options: DeliverOptions,
  ): Promise<void> => {
    while (
      !(await claims.finish([[record, result]], {
        until: options.until,
        client: options.client,
      })) &&
      options.isQueued &&
      now() < options.until
    ) {
      await sleep(AGAIN_MS);
    }
  };

  const send = (record: BatchRecord, options: DeliverOptions): Promise<BatchResult> =>
    inSlot(options.client ?? '', async () => {
      const { id } = record;
      const pass = now() < options.until ? await breaker.enter() : undefined;
      if (!pass) return later(id, breaker.waitMs());
      const attempt = now() < options.until ? await upstream(record, options.address) : undefined;
      breaker.leave(pass, id, attempt);
      if (!attempt) return later(id, 0);
      if (isFinal(attempt)) width.passed();
      else width.failed();
      const { outcome, status, retryAfterMs } = attempt;
      // Who came back sooner than the breaker lets through would have come for nothing.
      if (outcome === 'retry') return later(id, Math.max(retryAfterMs, breaker.waitMs()), status);
      const result: BatchResult = { id, outcome, status };
      // In the slot: a process that is killed leaves no more than `concurrency` records that were sent and
      // are not marked, and these are what may be sent twice.
      if (isFinal(result)) await mark(record, result, options);
      return result;
    });

  const attempt = async (
    record: BatchRecord,
    sighted: Promise<Sighting | undefined>,
    identified: Promise<BatchResult> | undefined,
    options: DeliverOptions,
  ): Promise<BatchResult> => {
    const { id } = record;
    const sighting = await sighted;
    if (!sighting || (sighting.state === 'begun' && !options.isQueued)) {
      return unclaimed(id, sighting);
    }
    if (sighting.state === 'done' && (!options.isQueued || isFinal(sighting.result))) {
      tell.metric('seen_hits', 1);
      return sighting.result;
    }
    const before = await identified;
    const result = before && !isFinal(before) ? { ...before, id } : await send(record, options);
    if (!isFinal(result) && !options.isQueued) await claims.forget([record], options.until);
    return result;
  };

  const startAll = (
    fresh: readonly BatchRecord[],
    options: DeliverOptions,
  ): readonly Promise<BatchResult>[] => {
    // As long as it may take, with a token that is asked for again and a second try.
    const { until, client, isQueued } = options;
    const claimMs = Math.max(0, until - now()) + 4 * timeout;
    const sightings = claims.claim(fresh, { claimMs, until, client, again: !isQueued });
    return fresh.map((record, index) => {
      const user = userOf(record, client);
      const result = attempt(
        record,
        sightings[index]!,
        user ? identifies.get(user) : undefined,
        options,
      );
      if (user && record.type === 'identify') {
        identifies.set(user, result);
        void result.then(() => {
          if (identifies.get(user) === result) identifies.delete(user);
        });
      }
      return result;
    });
  };

  /** Starts as many as there is room for. */
  const start = (
    fresh: readonly BatchRecord[],
    options: DeliverOptions,
  ): readonly Promise<BatchResult>[] => {
    const room = Math.max(0, maxPending - pending);
    const results = room > 0 ? startAll(fresh.slice(0, room), options) : [];
    pending += results.length;
    for (const result of results) void result.then(() => pending--);
    const beyond = fresh.slice(room).map(async ({ id }) => later(id, BUSY_MS));
    return [...results, ...beyond];
  };

  return {
    waitMs: () => Math.max(breaker.waitMs(), pending >= maxPending ? BUSY_MS : 0),
    deliver: (records, options) => join(records, (fresh) => start(fresh, options)),
  };
};

/** A client's name for the user whose record it is, where it has one. */
const userOf = ({ body }: BatchRecord, client = ''): string | undefined => {
  const { project, user_id: user } = body as { project?: unknown; user_id?: unknown };
  return typeof user === 'string' ? JSON.stringify([client, project, user]) : undefined;
};
