import type { Entry } from '../outbox/parcel.js';
import type { Outbox } from '../outbox/outbox.js';
import { isUnderWay } from '../outbox/states.js';
import type { DeliveryError, FlushResult, Outcome, OutboxRecord, Status } from '../types.js';
import { createBatching } from './batching.js';
import type { Gate } from './gate.js';
import { createHealth, SLOW_MS, type Started } from './health.js';
import { nextInLine } from './lanes.js';
import type { Attempt, Sender } from './sender.js';
import { createTroubles } from './troubles.js';
import { createWaiters } from './waiters.js';

/** Other pages wait this long for the page that probes. */
const PROBE_MS = 5_000;
/** Records looked at for one that has not failed yet. */
const PROBE_CHOICE = 50;
/** As good as so many failures: one that has failed while others passed. */
const SUSPECT = 1_000;
/** Pages that wait for the same moment come back spread over this long, so that one of them can probe. */
const SPREAD_MS = 500;
/** When the network is back, over this share of the oldest record's age, and no longer than this (docs/fleet.md). */
const RETURN_SHARE = 0.5;
const RETURN_MS = SLOW_MS;
/** Free places wait this long for more of them, so that a write serves several requests. */
const TOGETHER_MS = 12;

/**
 * Requests at a time to the page's own origin. Over HTTP/1.1 browsers have six connections for it, which all
 * the rest of the site needs as well: its files, its calls, the next page.
 */
const OWN_ORIGIN = 2;
/** While one of them has had no answer for this long, no other is started. */
const HANGING_MS = 2_000;

/** Requests that outlive the page, at the most: Chromium carries 256 and loses what is beyond (measured). */
const HANDOFF = 128;

interface Effects {
  outbox: Outbox;
  sender: Sender;
  gate: Gate;
  concurrency: () => number;
  /** Requests go to the page's own origin. */
  isOwnOrigin: () => boolean;
  now: () => number;
  random: () => number;
  isOnline: () => boolean;
  isHidden: () => boolean;
  onSent: (record: OutboxRecord, handoff: boolean) => void;
  onOutcome: (record: OutboxRecord, outcome: Outcome, status: number) => void;
  onError: (error: DeliveryError) => void;
}

const isWaiting = (entry: Entry): boolean => entry.state !== 'done' && !isUnderWay(entry);

/** Sends what is due, as fast as the destination's state allows. */
export const createFlusher = (effects: Effects) => {
  const { outbox, sender, gate, concurrency, now, random, isHidden } = effects;
  const { onSent, onOutcome, onError } = effects;
  const troubles = createTroubles();
  const health = createHealth({ ...effects, troubles });
  const waiters = createWaiters();
  const batching = createBatching(sender.capacity, troubles);
  const { access } = sender;
  const dueAt = (entry: Entry): number => troubles.see(entry).dueAt;
  /** Those without an answer yet, with the records in each. */
  const requests = new Map<Started, Entry[]>();
  /** Own records up to here are due; those called since wait for the next flush. */
  let horizon = 0;
  let stopped = false;
  /** The last look found nothing that may be sent, though nothing keeps the destination back. */
  let isStarving = false;
  let isAsking = false;
  let told = false;
  /** What was wrong with records of their own, as it was told. */
  const toldOf = new Set<string>();
  /** The last look found that nothing may be sent: what is stored need not be read yet. */
  let isPaused = false;
  /** Waits for storage or a token, after which it goes on by itself. */
  let pending = 0;
  let refilling: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let timerAt = Infinity;

  const wakeAt = (time: number) => {
    // One that is overdue has slept with the machine, and may go on doing so.
    if (time >= timerAt && timerAt >= now()) return;
    clearTimeout(timer);
    timerAt = time;
    const delay = Math.min(Math.max(0, Math.ceil(time - now())), SLOW_MS);
    timer = setTimeout(() => {
      timerAt = Infinity;
      pump();
    }, delay);
  };

  const whenDone = async (work: Promise<unknown>) => {
    pending++;
    await work;
    pending--;
    pump();
  };

  const wantsMore = () => !stopped && !isPaused && outbox.wantsMore(isStarving);

  const refill = async (): Promise<void> => {
    pending++;
    while (wantsMore() && (await outbox.refill(isStarving))) {
      waiters.join(outbox.entries);
      sendNow();
    }
    refilling = undefined;
    pending--;
    sendNow();
  };

  const isReady = () => access?.isReady() ?? true;

  const askToken = async () => {
    isAsking = true;
    const problem = await access?.ask();
    isAsking = false;
    if (problem && !stopped) setUp({ kind: 'token', message: problem });
  };

  const sendNow = (): void => {
    if (stopped) return;
    const time = now();
    outbox.letGo();
    for (const entry of outbox.entries()) {
      if (!isWaiting(entry)) continue;
      if (!outbox.isOld(entry.record)) break;
      dropOld(entry);
    }
    isStarving = false;
    const [reason, until] = health.pause(time);
    isPaused = !!reason;
    if (!reason && isReady()) {
      sendDue(time);
      const next = troubles.nextDue(time, SLOW_MS);
      if (next < Infinity) wakeAt(next);
    } else {
      void outbox.prepare([]);
      if (reason) wakeAt(until + random() * SPREAD_MS);
      else if (!isAsking && outbox.count() > 0) void whenDone(askToken());
    }
    settle();
  };

  /** A probe with records that have not failed yet: a bad one must not hold up the line. */
  const leastDoubtful = (candidates: Entry[]): Entry[] => {
    const doubtOf = (entry: Entry) => {
      const { failures, isSuspect } = troubles.see(entry);
      return failures + (isSuspect ? SUSPECT : 0);
    };
    const least = Math.min(...candidates.map(doubtOf));
    return candidates.filter((entry) => doubtOf(entry) === least);
  };

  /** Those in the outbox, behind those in flight that another page has by now: their answer is awaited yet. */
  function* line(): Generator<Entry, undefined> {
    for (const group of requests.values()) {
      for (const entry of group)
        if (entry.parcel.state === 'gone' && isUnderWay(entry)) yield entry;
    }
    yield* outbox.entries();
  }

  const dropOld = (entry: Entry) => {
    troubles.forget(entry);
    outbox.discard(entry, 'expired', 'older than maxAge');
  };

  const nextGroups = (time: number, limit: number, isProbing: boolean): Entry[][] => {
    const { fits } = batching;
    const rules = { now: time, limit, horizon, hasUnread: outbox.hasUnread(), dueAt, fits };
    const alone = { ...rules, limit: PROBE_CHOICE, fits: () => false };
    const entries = isProbing ? leastDoubtful(nextInLine(line(), alone).flat()) : line();
    const groups = nextInLine(entries, rules);
    const old = groups.flat().filter(({ record }) => outbox.isOld(record));
    if (old.length === 0) return groups;
    old.forEach(dropOld);
    return nextGroups(time, limit, isProbing);
  };

  /** How many more requests may be under way. */
  const places = (time: number): number => {
    if (!effects.isOwnOrigin()) return concurrency() - requests.size;
    if ([...requests.keys()].some(({ at }) => time - at >= HANGING_MS)) return 0;
    return Math.min(concurrency(), OWN_ORIGIN) - requests.size;
  };

  const sendDue = (time: number) => {
    const isProbing = health.isProbing();
    const current = [...requests.keys()].filter(health.isCurrent).length;
    const limit = Math.min(health.width() - current, places(time));
    if (limit <= 0) return;
    const groups = nextGroups(time, limit, isProbing);
    isStarving = groups.length === 0 && requests.size === 0;
    // A hidden page may be gone before the database has been prepared.
    const prepared = isHidden() ? undefined : outbox.prepare(groups.flat());
    if (prepared) void whenDone(prepared);
    for (const group of groups.filter((group) => group.every(outbox.canSend))) {
      if (gate.isDoubtful()) gate.reserve(PROBE_MS);
      void start(group, false);
    }
  };

  const settle = () => {
    if (pending > 0 || wantsMore()) return;
    waiters.settle(requests.size === 0, () => [...outbox.entries()].filter(isWaiting).length);
  };

  /** Goes on with what is under way. */
  const pump = (): void => {
    sendNow();
    if (wantsMore()) refilling ??= refill();
  };

  /** Attempts everything that waits by now. */
  const flushAll = (): void => {
    horizon = outbox.latest();
    pump();
  };

  const setUp = (error: DeliveryError) => {
    health.waitForSetUp();
    if (told) return;
    told = true;
    onError(error);
  };

  const start = async (group: Entry[], handoff: boolean): Promise<void> => {
    const started = health.begin();
    requests.set(started, group);
    const records = group.map(({ record }) => record);
    const size = batching.weigh(group);
    const keepalive = size <= sender.room();
    for (const entry of group) outbox.begin(entry, keepalive);
    const sending = sender.send(records, { size, keepalive, handoff });
    for (const record of records) onSent(record, handoff);
    const sent = await sending;
    requests.delete(started);
    if (stopped) return;
    // The browser goes on with it, and nobody here will hear of it: whoever comes next sees to it.
    if (!Array.isArray(sent) && sent.wasLeft) return group.forEach(outbox.abandon);
    if (Array.isArray(sent)) concludeEach(group, sent, started);
    else concludeAll(group, sent, started);
    // Answers that come close together free places together: one write for several requests.
    if (requests.size === 0) pump();
    else wakeAt(now() + TOGETHER_MS);
  };

  /** Each record has an answer of its own. */
  const concludeEach = (group: Entry[], attempts: Attempt[], started: Started): void => {
    const withOutcome = (
      outcomes: readonly Attempt['outcome'][],
      own = false,
    ): [Entry[], Attempt[]] => {
      const isOne = (_: unknown, i: number) =>
        outcomes.includes(attempts[i]!.outcome) && !!attempts[i]!.isOwn === own;
      return [group.filter(isOne), attempts.filter(isOne)];
    };
    // First: what fails beside those that pass is trouble of its own.
    const passed = withOutcome(['delivered', 'rejected']);
    if (passed[0].length > 0) pass(...passed, started);
    const [failing, failures] = withOutcome(['retry']);
    // What the relay has not tried says nothing of its records: they go first when it is tried again.
    const tried = failing.filter((entry) => attempts[group.indexOf(entry)]!.status > 0);
    const failed = tried.length > 0 ? tried : failing;
    for (const entry of failing) if (!failed.includes(entry)) outbox.putBack(entry);
    // One failure, with the longest of the waits.
    const [longest] = failures.sort((a, b) => b.retryAfterMs - a.retryAfterMs);
    if (longest) fail(failed, longest, started);
    const [blocked, [refusal]] = withOutcome(['blocked']);
    if (refusal) fail(blocked, refusal, started);
    setAside(...withOutcome(['blocked'], true), started);
    group.forEach((entry, i) => report(entry, attempts[i]!));
  };

  /** Blocked for values of their own: they wait, and nothing else does. */
  const setAside = (entries: Entry[], attempts: Attempt[], started: Started): void => {
    if (entries.length === 0) return;
    health.setAside(entries, started);
    entries.forEach((entry, i) => {
      const { status, problem = '' } = attempts[i]!;
      outbox.putBack(entry);
      if (toldOf.has(problem)) return;
      toldOf.add(problem);
      onError({ kind: 'setup', status, message: problem });
    });
  };

  /** The request as a whole came to this. */
  const concludeAll = (group: Entry[], attempt: Attempt, started: Started): void => {
    const { outcome, status } = attempt;
    if (outcome === 'rejected' && group.length > 1) {
      health.passed(started, 0);
      if (status === 413) batching.shrink(group);
      batching.split(group);
      for (const entry of group) {
        outbox.putBack(entry);
        // Not counted: it goes again at once, in smaller company.
        onOutcome(entry.record, 'retry', status);
      }
      return;
    }
    if (outcome === 'delivered' || outcome === 'rejected') pass(group, [attempt], started);
    else if (fail(group, attempt, started)) batching.split(group);
    else batching.failed(group);
    for (const entry of group) report(entry, attempt);
  };

  const report = (entry: Entry, { outcome, status }: Attempt) => {
    onOutcome(entry.record, outcome, status);
    waiters.count(entry, outcome);
  };

  const pass = (entries: Entry[], attempts: Attempt[], started: Started): void => {
    told = false;
    access?.passed();
    health.passed(started, entries.length);
    batching.passed();
    entries.forEach((entry, i) => {
      const { outcome, status } = attempts[i]!;
      troubles.forget(entry);
      if (outcome === 'delivered') outbox.finish(entry);
      else outbox.drop(entry, 'rejected', `the service answered ${status}`);
    });
  };

  /** True when only these records are answered so. */
  const fail = (entries: Entry[], attempt: Attempt, started: Started): boolean => {
    for (const entry of entries) outbox.putBack(entry);
    const isTheirOwn =
      attempt.outcome === 'blocked'
        ? refused(entries, attempt, started)
        : health.failed(entries, attempt, started);
    return isTheirOwn;
  };

  const refused = (entries: Entry[], attempt: Attempt, started: Started): boolean => {
    const { status, problem = '' } = attempt;
    if (access?.isOutdated(attempt)) return false;
    if (health.refused(entries, status, started)) return true;
    access?.refused(attempt);
    setUp({ kind: 'setup', status, message: problem });
    return false;
  };

  return {
    pump,
    flushAll,
    /** Attempts everything due, and settles when it has had its attempt. */
    flush: (): Promise<FlushResult> => {
      const result = waiters.add(outbox.entries());
      health.hurry();
      flushAll();
      return result;
    },
    /**
     * Gives the browser what fits, now. Nothing where the destination is known to fail: it is safer in the
     * outbox.
     */
    handOff: (): void => {
      const time = now();
      horizon = outbox.latest();
      health.hurry();
      if (stopped || health.pause(time)[0] || gate.isDoubtful()) return;
      if (!isReady()) return;
      void outbox.prepare([]); // there is no time to wait for what was being prepared
      let room = sender.room();
      const leaving = (entry: Entry, alone: boolean): boolean => {
        const weight = batching.weightOf(entry, alone);
        if (weight > room || !outbox.canSend(entry)) return false;
        room -= weight;
        return true;
      };
      const { fits } = batching;
      const limit = HANDOFF - requests.size;
      const rules = { now: time, limit, horizon, hasUnread: false, dueAt, fits, leaving };
      for (const group of nextInLine(line(), rules)) void start(group, true);
    },
    /** Gets a token, where one will be needed: at the page's end there is no time to ask. */
    prepare: (): void => {
      if (!isReady()) pump();
    },
    /** The network is back: perhaps for many at this moment. */
    resume: (): void => {
      const time = now();
      const [oldest] = outbox.entries();
      const age = time - (oldest?.record.at ?? time);
      health.resume(random() * Math.min(RETURN_MS, RETURN_SHARE * age));
      flushAll();
    },
    /** The set-up has changed. */
    reconfigure: (): void => {
      told = false;
      toldOf.clear();
      health.resume();
      flushAll();
    },
    stop: (): void => {
      stopped = true;
      clearTimeout(timer);
      sender.abort();
      requests.clear();
      pending = 0;
      settle();
    },
    /** Records without an answer yet. */
    inFlight: (): number => [...requests.values()].flat().length,
    pause: (): [Status['paused'], number] => health.pause(now()),
  };
};

export type Flusher = ReturnType<typeof createFlusher>;
