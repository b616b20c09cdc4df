import type { Entry } from '../outbox/entry.js';
import type { Outbox } from '../outbox/outbox.js';
import type { DeliveryError, FlushResult, Outcome, OutboxRecord, Status } from '../types.js';
import { delayAfter } from './backoff.js';
import type { Attempt, Sender } from './direct-sender.js';
import type { Gate } from './gate.js';
import { nextInLine } from './lanes.js';
import type { TokenSource } from './token.js';

/** While the set-up is wrong, or nothing answers: one try this often. */
const SLOW_MS = 300_000;
/** Attempts in a row without an answer that stop delivery. */
const SILENT = 3;
/** Other pages wait this long for the page that probes. */
const PROBE_MS = 5_000;

/** Pages that wait for the same moment come back spread over this long, so that one of them can probe. */
const SPREAD_MS = 500;
/** Free places wait this long for more of them, so that a write serves several requests. */
const TOGETHER_MS = 8;

interface Effects {
  outbox: Outbox;
  sender: Sender;
  gate: Gate;
  token: TokenSource;
  concurrency: () => number;
  now: () => number;
  random: () => number;
  isOnline: () => boolean;
  isGoing: () => boolean;
  onSent: (record: OutboxRecord, handoff: boolean) => void;
  onOutcome: (record: OutboxRecord, outcome: Outcome, status: number) => void;
  onError: (error: DeliveryError) => void;
}

interface Waiter {
  entries: Set<Entry>;
  result: FlushResult;
  settle: (result: FlushResult) => void;
}

/** Sends what is due, as fast as the destination's state allows. */
export const createFlusher = (effects: Effects) => {
  const { outbox, sender, gate, token, concurrency, now, random, isOnline, isGoing } = effects;
  const { onSent, onOutcome, onError } = effects;
  const inFlight = new Set<Entry>();
  const waiters = new Set<Waiter>();
  /** Records that wait for a time of their own. */
  const later = new Set<Entry>();
  let horizon = 0;
  let stopped = false;
  /** The last look found nothing that may be sent, though nothing keeps the destination back. */
  let isStarving = false;
  let width = Infinity;
  /** Counts penalties: failures of requests started before the last one are the same trouble. */
  let epoch = 0;
  let passes = 0;
  let silent = 0;
  let setupUntil = 0;
  let unreachableUntil = 0;
  let offlineUntil = 0;
  let told = false;
  /** Waits for storage or a token, after which it goes on by itself. */
  let pending = 0;
  let refilling: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let timerAt = Infinity;

  const wakeAt = (time: number) => {
    if (time >= timerAt) return;
    clearTimeout(timer);
    timerAt = time;
    timer = setTimeout(
      () => {
        timerAt = Infinity;
        pump();
      },
      Math.max(0, Math.ceil(time - now())),
    );
  };

  const isOffline = (time: number): boolean => {
    if (isOnline()) {
      offlineUntil = 0;
      return false;
    }
    // Some systems say offline for ever: try now and then all the same.
    offlineUntil ||= time + SLOW_MS;
    return time < offlineUntil;
  };

  const pause = (time: number): [Status['paused'], number] => {
    if (isOffline(time)) return ['offline', offlineUntil];
    if (setupUntil > time) return ['setup', setupUntil];
    if (unreachableUntil > time) return ['unreachable', unreachableUntil];
    const until = gate.until();
    return until > time ? ['backoff', until] : [undefined, 0];
  };

  const whenDone = (work: Promise<unknown>) => {
    pending++;
    void work.then(() => {
      pending--;
      pump();
    });
  };

  const refill = async (): Promise<void> => {
    pending++;
    while (!stopped && (await outbox.refill(isStarving))) sendNow();
    refilling = undefined;
    pending--;
    sendNow();
  };

  const sendNow = (): void => {
    if (stopped) return;
    const time = now();
    while (outbox.entries[0]?.state === 'waiting' && outbox.isOld(outbox.entries[0].record)) {
      outbox.drop(outbox.entries[0], 'expired', 'older than maxAge');
    }
    isStarving = false;
    const [reason, until] = pause(time);
    if (reason) wakeAt(until + random() * SPREAD_MS);
    else if (token.get() === undefined) whenDone(askToken());
    else {
      sendDue(time);
      wakeForLater(time);
    }
    settle();
  };

  const wakeForLater = (time: number) => {
    for (const entry of later) {
      if (entry.dueAt > time && entry.state === 'waiting') wakeAt(entry.dueAt);
      else later.delete(entry);
    }
  };

  const pump = (): void => {
    sendNow();
    if (!stopped && outbox.wantsMore(isStarving)) refilling ??= refill();
  };

  const sendDue = (time: number) => {
    const isDoubtful = gate.isDoubtful();
    const room = Math.min(isDoubtful ? 1 : width, concurrency()) - inFlight.size;
    if (room <= 0) return;
    const rules = { now: time, horizon, hasUnread: outbox.hasUnread(), leaving: false };
    const due = nextInLine(outbox.entries, { ...rules, limit: isDoubtful ? 50 : room });
    isStarving = due.length === 0 && inFlight.size === 0;
    // A probe with a record that has not failed yet: a bad one must not hold up the line.
    if (isDoubtful) due.sort((a, b) => a.failures - b.failures);
    for (const entry of due.slice(0, room)) {
      if (!outbox.canSend(entry)) {
        whenDone(outbox.renew(entry.hold));
        return;
      }
      if (isDoubtful) gate.reserve(PROBE_MS);
      void start(entry, false);
    }
  };

  const askToken = async () => {
    const problem = await token.ask();
    if (problem) setUp({ kind: 'token', message: problem });
  };

  const setUp = (error: DeliveryError) => {
    setupUntil = now() + SLOW_MS;
    width = 1;
    if (told) return;
    told = true;
    onError(error);
  };

  const start = async (entry: Entry, handoff: boolean): Promise<void> => {
    const { record, size } = entry;
    const started = { epoch, passes, at: now(), isProbe: gate.isDoubtful() };
    inFlight.add(entry);
    const keepalive = sender.fits(size);
    outbox.begin(entry, keepalive);
    const sending = sender.send(record, token.get() ?? '', size, keepalive);
    onSent(record, handoff);
    const attempt = await sending;
    inFlight.delete(entry);
    if (stopped) return;
    // The browser goes on with it, and nobody here will hear of it: whoever comes next counts it.
    if (attempt.status === 0 && isGoing()) return outbox.abandon(entry);
    conclude(entry, attempt, started);
    pumpTogether();
  };

  /** Answers that come close together free places together: one write for several requests. */
  const pumpTogether = () => {
    if (inFlight.size <= Math.min(width, concurrency()) / 2) pump();
    else wakeAt(now() + TOGETHER_MS);
  };

  const conclude = (
    entry: Entry,
    attempt: Attempt,
    started: { epoch: number; passes: number; at: number; isProbe: boolean },
  ): void => {
    const { outcome, status, retryAfterMs } = attempt;
    if (status > 0) silent = 0;
    if (outcome === 'delivered' || outcome === 'rejected') {
      passes++;
      token.passed();
      told = false;
      setupUntil = unreachableUntil = 0;
      // Not what another page has closed since.
      if (started.isProbe || gate.until() <= started.at) gate.open();
      width = Math.min(width * 2, concurrency());
      if (outcome === 'delivered') outbox.finish(entry);
      else outbox.drop(entry, 'rejected', `the service answered ${status}`);
    } else {
      outbox.putBack(entry, status > 0);
      if (outcome === 'blocked') refused(attempt);
      else failed(entry, attempt, started.passes, started.epoch !== epoch, retryAfterMs);
    }
    onOutcome(entry.record, outcome, status);
    for (const { entries, result } of waiters) {
      if (!entries.delete(entry)) continue;
      if (outcome === 'delivered') result.delivered++;
      else if (outcome === 'rejected') result.rejected++;
      else result.retried++;
    }
  };

  const refused = ({ status, token: used }: Attempt) => {
    if (used !== token.get()) return; // a newer one is there already
    if (status === 401) {
      if (token.renew()) return;
      token.forget();
    }
    const message =
      status === 401 || status === 403
        ? `the service refuses the token (${status}): check the option \`token\``
        : `no such service (${status}): check the option \`baseUrl\``;
    setUp({ kind: 'setup', status, message });
  };

  const failed = (
    entry: Entry,
    { status }: Attempt,
    passesBefore: number,
    again: boolean,
    retryAfterMs: number,
  ) => {
    const othersPass = passes > (entry.mark ?? passesBefore);
    entry.mark = passes;
    entry.failures++;
    if (othersPass && status !== 429 && retryAfterMs === 0) {
      entry.dueAt = now() + delayAfter(entry.failures - 1, 0, random);
      later.add(entry);
      return;
    }
    gate.close(retryAfterMs, again);
    width = 1;
    if (again) return;
    epoch++;
    if (status === 0 && ++silent >= SILENT) {
      unreachableUntil = now() + SLOW_MS;
      silent = 0;
    }
  };

  const settle = () => {
    if (pending > 0) return;
    for (const waiter of waiters) {
      if (inFlight.size > 0 && waiter.entries.size > 0) continue;
      waiters.delete(waiter);
      const waiting = outbox.entries.filter(({ state }) => state === 'waiting').length;
      waiter.settle({ ...waiter.result, waiting });
    }
  };

  const flushAll = (): void => {
    horizon = outbox.latest();
    pump();
  };

  return {
    /** Goes on with what is under way. */
    pump,
    /** Attempts everything that waits by now. */
    flushAll,
    /** Attempts everything due, and settles when it has had its attempt. */
    flush: async (): Promise<FlushResult> => {
      flushAll();
      await refilling; // what other pages have left is due, too
      return new Promise((resolve) => {
        const result = { delivered: 0, retried: 0, rejected: 0, waiting: 0 };
        waiters.add({ entries: new Set(outbox.entries), result, settle: resolve });
        flushAll();
      });
    },
    /**
     * Gives the browser what fits, now. Nothing where the destination is known to fail: it is safer in the
     * outbox.
     */
    handOff: (): void => {
      const time = now();
      horizon = outbox.latest();
      if (stopped || pause(time)[0] || gate.isDoubtful() || token.get() === undefined) return;
      const rules = {
        now: time,
        limit: Infinity,
        horizon,
        hasUnread: false,
        leaving: true,
      };
      for (const entry of nextInLine(outbox.entries, rules)) {
        if (sender.fits(entry.size) && outbox.canSend(entry)) void start(entry, true);
      }
    },
    /** The network is back, or the set-up has changed. */
    resume: (): void => {
      if (silent > 0 || unreachableUntil > 0) gate.open();
      silent = setupUntil = unreachableUntil = offlineUntil = 0;
      told = false;
      flushAll();
    },
    stop: (): void => {
      stopped = true;
      clearTimeout(timer);
      sender.abort();
      inFlight.clear();
      pending = 0;
      settle();
    },
    inFlight: (): number => inFlight.size,
    pause: () => pause(now()),
  };
};

export type Flusher = ReturnType<typeof createFlusher>;
