import { CAP_MS, waitInTrouble } from '../../interface/backoff.js';
import { createReportOnce, type Tell } from '../hooks.js';
import { answerWords, setupWords, type Attempt } from './upstream.js';

/** Requests at a time to a service that has not answered yet. */
const START = 4;
/**
 * When first records of so many clients have failed and none has passed, it is the service. Where a fifth of all
 * visitors have a bad record, that happens by chance once in 400,000 records.
 */
const SEVERAL = 8;
/** While fewer records than this have failed, it may be they that the service does not answer. */
const FEW = 4;
/** Clients and records that are remembered at the most. */
const MAX_KNOWN = 10_000;
/** A record that fails is tried again within `CAP_MS`. One that has not failed for so long has passed, or is gone. */
const FORGET_MS = 2 * CAP_MS;

/** The turn of all records that have failed before. They get a quarter of the places: each may take long to fail. */
export const AGAIN = ' again';

interface Effects {
  /** Requests at a time at the most. */
  most: number;
  now: () => number;
  /** The clock for waits: it must go on evenly when the time of the machine is set. */
  ticks: () => number;
  random: () => number;
  tell: Tell;
}

/** What the backoff has to know of a record. */
export interface Sender {
  /** Under what it is known here. */
  key: string;
  /** Whose it is; the key itself, where clients cannot be told apart. */
  client: string;
  /** How often it has failed before, as far as a queue remembers. */
  tries?: number | undefined;
}

/** How it stands with the service, for people. Times are in ISO 8601. */
export interface ServiceHealth {
  status: 'ok' | 'failing' | 'unknown';
  /** What its last failure was, since when it fails, and when it is asked again. */
  reason?: string;
  since?: string;
  paused_until?: string;
  /** Records that it refuses while it takes others: whose they are, how many, and why. They hold up nobody. */
  refusing?: {
    whose: 'one client' | 'some records';
    records: number;
    reason: string;
    since: string;
  };
  last_success?: string;
}

/** Answers that say nothing of the record which they answer: it is the service that refuses, is busy or is away. */
const SERVICES_OWN: readonly number[] = [401, 408, 425, 429];

/**
 * Decides when requests may go to the service, and how many at a time. There are three kinds of trouble:
 *
 * - Of a record: it waits by itself, and the queue or the page knows for how long. A second failure of the same record
 *   says nothing about its client or the service.
 * - Of a client: the first failure of a record has its client's records wait. Nobody else waits for them. While a
 *   client has not passed since, one request of it goes at a time.
 * - Of the service: it answers nobody, refuses the token, asks for a wait, or the first records of several clients
 *   fail in a row. Then all wait, and after the pause one request goes at a time until one succeeds.
 *
 * Client and service wait about half the time for which they have been failing. Each success makes room for one more
 * request, so the number doubles with every round of answers, up to `most`.
 */
export const createBackoff = ({ most, now, ticks, random, tell }: Effects) => {
  const start = Math.min(START, most);
  let width = start;
  /** The first failure that no success has followed, other than further ones of the same record. */
  let since: number | undefined;
  /** The service itself is in trouble. */
  let isClosed = false;
  /** Clients and records that have failed since, the first few. */
  const failedSince = new Set<string>();
  /** The end of the pause. A success ends it at once. */
  let until = 0;
  /** The end of the wait that the service has asked for. */
  let askedUntil = 0;
  let lastSuccess: number | undefined;
  let lastStatus = 0;
  /** Clients that have failed and not passed since. */
  const clients = new Map<string, { since: number; until: number }>();
  /** Records that fail while others pass, in the order of their last failure. */
  const records = new Map<
    string,
    { client: string; tries: number; since: number; last: number; status: number }
  >();
  const trouble = createReportOnce(tell, now);
  const recordTrouble = createReportOnce(tell, now);
  const left = (time: number): number => Math.max(0, time - ticks());
  const timeOf = (tick: number): number => now() + tick - ticks();
  const iso = (tick: number): string => new Date(timeOf(tick)).toISOString();

  /** Forgets records that have not failed for long. */
  const prune = (): void => {
    for (const [key, { last }] of records) {
      if (records.size <= MAX_KNOWN && ticks() - last < FORGET_MS) break;
      records.delete(key);
    }
    if (!records.size) recordTrouble.healed();
  };

  const close = (): void => {
    if (!isClosed) tell.metric('trouble', 1);
    isClosed = true;
    width = 1;
  };

  /** Whether it is the service that fails, as far as anybody knows: it may never have taken a record. */
  const isServices = (): boolean => isClosed || (since !== undefined && lastSuccess === undefined);

  const refusing = (): ServiceHealth['refusing'] => {
    const all = [...records.values()];
    const last = all.at(-1);
    if (!last) return undefined;
    const isOneClient = last.client && all.every(({ client }) => client === last.client);
    return {
      whose: isOneClient ? 'one client' : 'some records',
      records: all.length,
      reason: answerWords(last),
      since: iso(Math.min(...all.map((one) => one.since))),
    };
  };

  /** Tells the operator, once more than one try has failed. A wrong token and a silent service are told of where they are found. */
  const tellOf = (attempt: Attempt, isSecond: boolean): void => {
    const { outcome, status } = attempt;
    if (status === 401 || !isSecond) return;
    if (!isServices()) {
      const isOneClient = refusing()?.whose === 'one client';
      const whose = isOneClient ? 'records of one client' : 'some records';
      const message = `${answerWords(attempt)} to ${whose}; these wait, and all others go on`;
      return recordTrouble.tell({ kind: 'records', status, message });
    }
    if (!status) return;
    const began = timeOf(since ?? ticks());
    if (outcome === 'blocked')
      trouble.tell({ kind: 'setup', status, message: setupWords(attempt) }, began);
    else
      trouble.tell(
        { kind: 'service', status, message: `${answerWords(attempt)}; records wait` },
        began,
      );
  };

  /** Notes a failure that may be the record's own: it is known by it, and its client waits if it is the record's first. */
  const noteRecord = ({ key, client, tries = 0 }: Sender, status: number, isFirst: boolean) => {
    const time = ticks();
    const known = records.get(key);
    records.delete(key);
    records.set(key, {
      ...{ client: client === key ? '' : client, status, last: time },
      since: known?.since ?? time,
      tries: Math.max(tries, known?.tries ?? 0) + 1,
    });
    prune();
    if (!isFirst) return;
    const before = clients.get(client);
    const own = before && time - before.until < FORGET_MS ? before : { since: time, until: 0 };
    if (!left(own.until)) own.until = time + waitInTrouble(time - own.since, random());
    clients.delete(client);
    clients.set(client, own);
    if (clients.size > MAX_KNOWN) clients.delete(clients.keys().next().value!);
  };

  return {
    /** Milliseconds until it is worth asking; 0 when it is now. */
    waitMs: (): number => left(Math.max(until, askedUntil)),
    /** Milliseconds until records of this client may go, as far as that hangs on the client. */
    clientWaitMs: (client: string): number => left(clients.get(client)?.until ?? 0),
    /** How often a record has failed, as far as this process knows. */
    triesOf: ({ key, tries = 0 }: Sender): number => Math.max(tries, records.get(key)?.tries ?? 0),
    health: (): ServiceHealth => {
      prune();
      const refused = refusing();
      const usual = lastSuccess === undefined ? 'unknown' : 'ok';
      return {
        status: isServices() ? 'failing' : usual,
        ...(isServices()
          ? {
              reason: answerWords({ status: lastStatus }),
              since: iso(since ?? ticks()),
              paused_until: iso(Math.max(until, askedUntil, ticks())),
            }
          : refused && { refusing: refused }),
        ...(lastSuccess !== undefined && { last_success: iso(lastSuccess) }),
      };
    },
    /**
     * Whether one more request may start beside those that are under way, of all and of the same turn; where no turn is
     * named, whether there is a place at all. A client gets no more places than it leaves free, so however long its
     * requests take, half of the places are for others.
     */
    allows: (underWay: number, turn: string, ofTurn: number): boolean => {
      // How fast the service was before it had nothing to do says little about now.
      if (underWay === 0 && since === undefined) width = start;
      const ofClient = clients.has(turn) ? 1 : width - underWay;
      return ofTurn < (turn === AGAIN ? width / 4 : ofClient);
    },
    passed: ({ key, client }: Sender): void => {
      records.delete(key);
      clients.delete(client);
      prune();
      if (isClosed) tell.metric('trouble', 0);
      trouble.healed();
      lastSuccess = ticks();
      since = undefined;
      isClosed = false;
      failedSince.clear();
      until = 0;
      width = Math.min(most, width + 1);
    },
    /** Where the service has taken other records since the request began, silence is the record's own failure. */
    failed: (sender: Sender, attempt: Attempt, began: number): void => {
      const { key, client } = sender;
      const { status, retryAfterMs } = attempt;
      const time = ticks();
      const isKnown = records.has(key);
      const isFirst = !isKnown && !sender.tries;
      const isOwn = status ? !SERVICES_OWN.includes(status) : began < lastSuccess!;
      const isRecords = isOwn && !retryAfterMs;
      const isNews = isFirst || !isRecords;
      const isSecond = isNews ? since !== undefined : isKnown;
      lastStatus = status;
      const jitterMs = random() * Math.min(CAP_MS, retryAfterMs / 2);
      askedUntil = Math.max(askedUntil, time + retryAfterMs + jitterMs);
      if (isRecords) noteRecord(sender, status, isFirst);
      if (isNews) {
        since ??= time;
        if (failedSince.size < SEVERAL) failedSince.add(isRecords ? client : key);
        if (!isRecords || failedSince.size >= SEVERAL) close();
      }
      if (isClosed && !left(until)) {
        const grows = isNews && failedSince.size >= FEW;
        until = time + waitInTrouble(grows ? time - since! : 0, random());
      }
      tellOf(attempt, isSecond || isClosed);
    },
    /** Ends all waits, also one that the service has asked for. */
    tryNow: (): void => {
      until = 0;
      askedUntil = 0;
      for (const one of clients.values()) one.until = 0;
    },
  };
};
