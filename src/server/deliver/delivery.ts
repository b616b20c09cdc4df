import { waitInTrouble } from '../../interface/backoff.js';
import { timer } from '../../interface/kinds.js';
import type { BatchResult } from '../../interface/wire.js';
import { count, type Kinds } from '../check-options.js';
import type { Hooks, Tell } from '../hooks.js';
import { keyOf, lineOf, PATIENCE, type Incoming } from '../incoming.js';
import { isFinal, retryLater, untried } from '../results.js';
import { monotonicNow } from '../time.js';
import { createBackoff, type ServiceHealth, type TriedRecord } from './backoff.js';
import { createKnownIds } from './known-ids.js';
import { AGAIN, createTurns } from './turns.js';
import { createUpstream, UPSTREAM_KINDS, type UpstreamOptions } from './upstream.js';

/** How records are delivered to a service. */
export interface DeliveryOptions extends Hooks, UpstreamOptions {
  /**
   * Requests to the service at a time at the most, over all batches. It begins with 4, again when nothing was under
   * way, and with 1 after a failure of the service; each success makes room for one more. @default 32
   */
  concurrency?: number | undefined;
  /** Milliseconds that a request may take. @default 10000 */
  timeout?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
}

/** The options of a delivery that are not those of its server, too. */
export const DELIVERY_KINDS: Kinds<Omit<DeliveryOptions, keyof Hooks | 'now'>> = {
  ...UPSTREAM_KINDS,
  concurrency: count,
  timeout: timer,
};

/** A record to be delivered. */
export interface Deliverable extends Incoming {
  /**
   * Given if the record is a row of a store: how often it has failed, and when it arrived. Such a record needs no memory of
   * ids here, since the store has one, and it may be given back at any time. Until `settled`, when the store knows the
   * result, it counts as one of the requests that are under way. So a process that is killed leaves no more
   * than those in doubt.
   */
  stored?: { tries: number; at: number; settled?: Promise<void> } | undefined;
}

export interface DeliverOptions {
  /**
   * No request starts after this time, in milliseconds since the epoch; one that has started may take its
   * `timeout`. It is read before each request, so a getter can end the delivery early.
   */
  until: number;
  /** Sent as `X-Forwarded-For`. */
  address?: string | undefined;
}

export interface Delivery {
  /** The state of the service. */
  health: () => ServiceHealth;
  /** Milliseconds until a request to the service makes sense; 0 if it does now. */
  waitMs: () => number;
  /** Ends all waits at once, also those that the service has asked for. */
  tryNow: () => void;
  /**
   * Delivers records, and returns a promise for the result of each, in their order. Of one user and one sender,
   * identifies are sent one at a time, and events after the identifies before them. After an identify has failed three
   * times, the events behind it no longer wait for it. Senders do not wait for each other. A record that was not sent
   * is `retry`. None of the promises rejects.
   */
  deliver: (
    records: readonly Deliverable[],
    options: DeliverOptions,
  ) => readonly Promise<BatchResult>[];
}

/** An identify that is under way. */
interface Identify {
  tried: TriedRecord;
  result: Promise<BatchResult>;
}

/** Records that are being sent or wait to be sent, at most. */
const MAX_PENDING = 10_000;
/** How long to wait when too many records are pending. */
const BUSY_MS = 2_000;
/** A record of a slow sender that is given back counts as having waited for this long at most. */
const LONGEST_SLOW_MS = 60_000;

/** Delivers records to the service: each once, those of one user in order, and a few at a time. */
export const createDelivery = (
  options: Omit<DeliveryOptions, keyof Hooks>,
  tell: Tell,
  { maxPending = MAX_PENDING } = {},
): Delivery => {
  const { timeout = 10_000, concurrency = 32, now = Date.now } = options;
  const ticks = options.now ?? monotonicNow;
  const backoff = createBackoff({ most: concurrency, now, ticks, tell });
  const turns = createTurns({ places: backoff.width, ticks });
  const tryOnce = createUpstream({ ...options, timeout, now, tell });
  const known = createKnownIds(now);
  /** Results of records that are under way. A repeat gets the same one. */
  const running = new Map<string, Promise<BatchResult>>();
  /** The last identify that is under way, of each user of a sender. */
  const identifies = new Map<string, Identify>();

  const later = (record: Deliverable, waitMs: number): BatchResult =>
    untried(retryLater(record.id, waitMs));

  const waitMsOf = ({ key, sender }: TriedRecord): number =>
    Math.max(backoff.waitMs(), turns.waitMs(sender || key));

  /** The result of a record that may not be sent now. */
  const heldBack = (record: Deliverable, tried: TriedRecord, { until }: DeliverOptions) => {
    const waitMs = waitMsOf(tried);
    return waitMs > 0 || now() >= until ? later(record, waitMs) : undefined;
  };

  /** Sends a record whose turn has come. */
  const sendNow = async (
    record: Deliverable,
    tried: TriedRecord,
    options: DeliverOptions,
  ): Promise<BatchResult> => {
    const held = heldBack(record, tried, options);
    if (held) return held;
    const waiter = tried.sender || tried.key;
    const began = ticks();
    const attempt = await tryOnce(record, options.address);
    if (isFinal(attempt)) {
      backoff.passed(tried);
      turns.passed(waiter);
    } else if (backoff.failed(tried, attempt, began)) turns.failed(waiter);
    const { outcome, status, retryAfterMs, message } = attempt;
    // A retry during a pause would be in vain.
    if (outcome === 'retry')
      return retryLater(record.id, Math.max(retryAfterMs, waitMsOf(tried)), status);
    const words = outcome === 'rejected' && message && { message };
    return { id: record.id, outcome, status, ...words };
  };

  /** Sends a record once the identify before it has been delivered, and its turn has come. */
  const deliverOne = (
    record: Deliverable,
    key: string,
    options: DeliverOptions,
  ): Promise<BatchResult> => {
    const { stored, sender = '' } = record;
    const tried = { key, sender, tries: stored?.tries ?? 0 };
    const line = lineOf(record);
    const before = line ? identifies.get(line) : undefined;

    const deliver = async (): Promise<BatchResult> => {
      const result = await before?.result;
      const mayPass =
        record.type === 'event' && before && backoff.triesOf(before.tried) >= PATIENCE;
      if (result && !isFinal(result) && !mayPass) return untried({ ...result, id: record.id });
      // A record that has to wait takes no turn, since it says nothing about how fast its sender is.
      const held = heldBack(record, tried, options);
      if (held) return held;
      const turn = backoff.triesOf(tried) ? AGAIN : sender || key;
      const send = () => sendNow(record, tried, options);
      const sent = await turns.run(turn, send, {
        mayRefuse: !!stored,
        ...(stored?.settled && { settled: stored.settled }),
      });
      if (sent) return sent;
      const waitedMs = Math.min(LONGEST_SLOW_MS, now() - stored!.at);
      return later(record, waitInTrouble(waitedMs, Math.random()));
    };
    const result = deliver();
    if (line && record.type === 'identify') {
      const own = { tried, result };
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
    if (running.size >= maxPending) return Promise.resolve(later(record, BUSY_MS));
    const result = deliverOne(record, key, options);
    running.set(key, result);
    void result.then((done) => {
      running.delete(key);
      if (isFinal(done) && !record.stored) known.keep(key, record.sender ?? '', done);
    });
    return result;
  };

  return {
    health: backoff.health,
    tryNow: () => {
      backoff.tryNow();
      turns.tryNow();
    },
    waitMs: () => Math.max(backoff.waitMs(), running.size >= maxPending ? BUSY_MS : 0),
    deliver: (records, options) =>
      records.map((record) => {
        const key = keyOf(record);
        const remembered = record.stored ? undefined : known.find(key);
        const result = running.get(key) ?? (remembered && Promise.resolve(remembered));
        if (!result) return start(record, key, options);
        tell.metric('repeats', 1);
        return result;
      }),
  };
};
