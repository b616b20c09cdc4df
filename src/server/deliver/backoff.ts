import { CAP_MS, waitInTrouble } from '../../interface/backoff.js';
import { createReportOnce, type Tell } from '../hooks.js';
import { answerWords, setupWords, type Attempt } from './upstream.js';

/** Requests at a time to a service that has not answered yet. */
const START = 4;
/**
 * After this many different senders have failed in a row, the service is blamed. If 20 % of all senders sent bad records,
 * that would happen by chance once in 400,000 records.
 */
const SEVERAL = 8;
/** The pause stays at a second until this many records have failed: before, the fault may be in these records. */
const FEW = 4;
/** How many failing records are remembered. */
const MAX_RECORDS = 10_000;
/** A failing record is tried again within `CAP_MS`. One that has not failed for this long has passed, or is gone. */
const FORGET_MS = 2 * CAP_MS;

interface Effects {
  /** Requests at a time at most. */
  most: number;
  now: () => number;
  /** The clock for waits. It must go on evenly when somebody sets the time of the machine. */
  ticks: () => number;
  tell: Tell;
}

/** What the backoff has to know about a record that was tried. */
export interface TriedRecord {
  key: string;
  /** Empty if senders are not known. */
  sender: string;
  /** How often it had failed before, if it is a row of a store. */
  tries: number;
}

/** The state of the service, for people. Times are in ISO 8601. */
export interface ServiceHealth {
  status: 'ok' | 'failing' | 'unknown';
  /** Its last failure, since when it has been failing, and when the next request goes to it. */
  reason?: string;
  since?: string;
  paused_until?: string;
  /** Records that the service refuses while it takes others: whose they are, how many, and why. */
  refusing?: {
    whose: 'one client' | 'some records';
    records: number;
    reason: string;
    since: string;
  };
  last_success?: string;
}

/** Statuses that say nothing about the record: the service refuses the token, is busy or is away. */
const SERVICES_OWN: readonly number[] = [401, 408, 425, 429];

/**
 * Decides when requests may go to the service, and how many at a time. Two kinds of trouble are told apart:
 *
 * - Trouble of a record: the service refuses it and takes others. The store or the page knows when to try it again. Its
 *   sender waits once (see `createTurns`), and nobody else does.
 * - Trouble of the service: it answers nobody, refuses the token, asks for a wait, or fails the first records of several
 *   senders in a row. Then all records wait. After the pause one request goes at a time until one succeeds.
 *
 * A pause lasts about half the time for which the service has been failing. Each success makes room for one more request,
 * so the number doubles with each round of answers, up to `most`.
 */
export const createBackoff = ({ most, now, ticks, tell }: Effects) => {
  const start = Math.min(START, most);
  let width = start;
  /** The first failure since the last success. Further failures of the same record do not count. */
  let since: number | undefined;
  let isClosed = false;
  /** The first few senders and records that have failed since the last success. */
  const failedSince = new Set<string>();
  /** The end of the pause. A success ends it at once. */
  let until = 0;
  /** The end of the wait that the service has asked for. */
  let askedUntil = 0;
  let lastSuccess: number | undefined;
  let lastStatus = 0;
  /** Failing records, in the order of their last failure. */
  const records = new Map<
    string,
    { sender: string; tries: number; since: number; last: number; status: number }
  >();
  const trouble = createReportOnce(tell, now);
  const recordTrouble = createReportOnce(tell, now);
  const left = (time: number): number => Math.max(0, time - ticks());
  const timeOf = (tick: number): number => now() + tick - ticks();
  const iso = (tick: number): string => new Date(timeOf(tick)).toISOString();

  /** Forgets records that have not failed for long, and the oldest ones if there are too many. */
  const prune = (): void => {
    for (const [key, { last }] of records) {
      if (records.size <= MAX_RECORDS && ticks() - last < FORGET_MS) break;
      records.delete(key);
    }
    if (!records.size) recordTrouble.healed();
  };

  const close = (): void => {
    if (!isClosed) tell.metric('trouble', 1);
    isClosed = true;
    width = 1;
  };

  /** Whether the service is to blame for failures. It is, until it has taken its first record. */
  const isServices = (): boolean => isClosed || (since !== undefined && lastSuccess === undefined);

  const refusing = (): ServiceHealth['refusing'] => {
    const all = [...records.values()];
    const last = all.at(-1);
    if (!last) return undefined;
    const isOneSender = last.sender && all.every(({ sender }) => sender === last.sender);
    return {
      whose: isOneSender ? 'one client' : 'some records',
      records: all.length,
      reason: answerWords(last),
      since: iso(Math.min(...all.map((one) => one.since))),
    };
  };

  /** Reports a trouble at the second failure. A wrong token and a silent service are reported by `createUpstream`. */
  const report = (attempt: Attempt, isSecond: boolean): void => {
    const { outcome, status } = attempt;
    if (status === 401 || !isSecond) return;
    const words = answerWords(attempt);
    if (!isServices()) {
      const whose = refusing()?.whose === 'one client' ? 'records of one client' : 'some records';
      const message = `${words} to ${whose}; these wait, and all others go on`;
      return recordTrouble.tell({ kind: 'records', status, message });
    }
    if (!status) return;
    trouble.tell(
      outcome === 'blocked'
        ? { kind: 'setup', status, message: setupWords(attempt) }
        : { kind: 'service', status, message: `${words}; records wait` },
      timeOf(since ?? ticks()),
    );
  };

  const noteRecord = ({ key, sender, tries }: TriedRecord, status: number): void => {
    const time = ticks();
    const known = records.get(key);
    records.delete(key);
    records.set(key, {
      ...{ sender, status, last: time, since: known?.since ?? time },
      tries: Math.max(tries, known?.tries ?? 0) + 1,
    });
    prune();
  };

  return {
    /** Milliseconds until a request may go to the service; 0 if one may go now. */
    waitMs: (): number => left(Math.max(until, askedUntil)),
    /** How often a record has failed, as far as this process and its store know. */
    triesOf: ({ key, tries }: TriedRecord): number => Math.max(tries, records.get(key)?.tries ?? 0),
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
    /** How many requests may be under way together, given how many are. */
    width: (underWay: number): number => {
      // After an idle time it is not known how much the service can take.
      if (underWay === 0 && since === undefined) width = start;
      return width;
    },
    passed: ({ key }: TriedRecord): void => {
      records.delete(key);
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
    /**
     * Notes a failure. Returns true if it is the first failure of the record, and its own: then its sender has to wait.
     */
    failed: (record: TriedRecord, attempt: Attempt, began: number): boolean => {
      const { key, sender, tries } = record;
      const { status, retryAfterMs } = attempt;
      const time = ticks();
      const isKnown = records.has(key);
      const isFirst = !isKnown && !tries;
      // If there is no answer, the record is to blame if the service has taken others since the request began.
      const isOwn = status ? !SERVICES_OWN.includes(status) : began < lastSuccess!;
      const isRecords = isOwn && !retryAfterMs;
      const isNews = isFirst || !isRecords;
      const isSecond = isNews ? since !== undefined : isKnown;
      lastStatus = status;
      const jitterMs = Math.random() * Math.min(CAP_MS, retryAfterMs / 2);
      askedUntil = Math.max(askedUntil, time + retryAfterMs + jitterMs);
      if (isRecords) noteRecord(record, status);
      if (isNews) {
        since ??= time;
        if (failedSince.size < SEVERAL) failedSince.add(isRecords && sender ? sender : key);
        if (!isRecords || failedSince.size >= SEVERAL) close();
      }
      if (isClosed && !left(until)) {
        const grows = isNews && failedSince.size >= FEW;
        until = time + waitInTrouble(grows ? time - since! : 0, Math.random());
      }
      report(attempt, isSecond || isClosed);
      return isRecords && isFirst;
    },
    /** Ends all waits, also those that the service has asked for. */
    tryNow: (): void => {
      until = 0;
      askedUntil = 0;
    },
  };
};
