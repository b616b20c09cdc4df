import type { Entry } from '../outbox/entry.js';
import type { Outbox } from '../outbox/outbox.js';
import type { DeliveryError, FlushResult, Outcome, OutboxRecord, Status } from '../types.js';
import type { Attempt, Sender } from './direct-sender.js';
import type { Gate } from './gate.js';
import { createHealth, SLOW_MS, type Started } from './health.js';
import { nextInLine } from './lanes.js';
import type { TokenSource } from './token.js';
import { createWaiters } from './waiters.js';

/** Other pages wait this long for the page that probes. */
const PROBE_MS = 5_000;
/** Records looked at for one that has not failed yet. */
const PROBE_CHOICE = 50;
/** Pages that wait for the same moment come back spread over this long, so that one of them can probe. */
const SPREAD_MS = 500;
/** Free places wait this long for more of them, so that a write serves several requests. */
const TOGETHER_MS = 12;

interface Effects {
  outbox: Outbox;
  sender: Sender;
  gate: Gate;
  token: TokenSource;
  concurrency: () => number;
  now: () => number;
  random: () => number;
  isOnline: () => boolean;
  onSent: (record: OutboxRecord, handoff: boolean) => void;
  onOutcome: (record: OutboxRecord, outcome: Outcome, status: number) => void;
  onError: (error: DeliveryError) => void;
}

/** Sends what is due, as fast as the destination's state allows. */
export const createFlusher = (effects: Effects) => {
  const { outbox, sender, gate, token, concurrency, now, random } = effects;
  const { onSent, onOutcome, onError } = effects;
  const health = createHealth(effects);
  const waiters = createWaiters();
  const inFlight = new Map<Entry, Started>();
  /** Records that wait for a time of their own. */
  const later = new Set<Entry>();
  /** Own records up to here are due; those called since wait for the next flush. */
  let horizon = 0;
  let stopped = false;
  /** The last look found nothing that may be sent, though nothing keeps the destination back. */
  let isStarving = false;
  let isAsking = false;
  let told = false;
  /** The last look found that nothing may be sent: what is stored need not be read yet. */
  let isPaused = false;
  /** Waits for storage or a token, after which it goes on by itself. */
  let pending = 0;
  let refilling: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let timerAt = Infinity;

  const wakeAt = (time: number) => {
    if (time >= timerAt) return;
    clearTimeout(timer);
    timerAt = time;
    const delay = Math.min(Math.max(0, Math.ceil(time - now())), SLOW_MS);
    timer = setTimeout(() => {
      timerAt = Infinity;
      pump();
    }, delay);
  };

  const wakeForLater = (time: number) => {
    for (const entry of later) {
      if (entry.dueAt - time > SLOW_MS) entry.dueAt = 0; // the clock was set back
      if (entry.dueAt > time && entry.state === 'waiting') wakeAt(entry.dueAt);
      else later.delete(entry);
    }
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

  const askToken = async () => {
    isAsking = true;
    const problem = await token.ask();
    isAsking = false;
    if (problem && !stopped) setUp({ kind: 'token', message: problem });
  };

  const sendNow = (): void => {
    if (stopped) return;
    const time = now();
    while (outbox.entries[0]?.state === 'waiting' && outbox.isOld(outbox.entries[0].record)) {
      outbox.drop(outbox.entries[0], 'expired', 'older than maxAge');
    }
    isStarving = false;
    const [reason, until] = health.pause(time);
    isPaused = !!reason;
    if (reason) wakeAt(until + random() * SPREAD_MS);
    else if (token.get() === undefined) {
      if (!isAsking && outbox.entries.length > 0) void whenDone(askToken());
    } else {
      sendDue(time);
      wakeForLater(time);
    }
    settle();
  };

  const sendDue = (time: number) => {
    const isProbing = health.isProbing();
    const current = [...inFlight.values()].filter(health.isCurrent).length;
    const room = Math.min(health.width() - current, concurrency() - inFlight.size);
    if (room <= 0) return;
    const limit = isProbing ? PROBE_CHOICE : room;
    const due = nextInLine(outbox.entries, {
      now: time,
      limit,
      horizon,
      hasUnread: outbox.hasUnread(),
    });
    isStarving = due.length === 0 && inFlight.size === 0;
    // A probe with a record that has not failed yet: a bad one must not hold up the line.
    if (isProbing) due.sort((a, b) => a.failures - b.failures);
    for (const entry of due.slice(0, room)) {
      if (!outbox.canSend(entry)) return void whenDone(outbox.renew(entry.hold));
      if (gate.isDoubtful()) gate.reserve(PROBE_MS);
      void start(entry, false);
    }
  };

  const settle = () => {
    if (pending > 0 || wantsMore()) return;
    waiters.settle(
      inFlight.size === 0,
      () => outbox.entries.filter(({ state }) => state === 'waiting').length,
    );
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

  const start = async (entry: Entry, handoff: boolean): Promise<void> => {
    const { record, size } = entry;
    const started = health.begin();
    inFlight.set(entry, started);
    const keepalive = size <= sender.room();
    outbox.begin(entry, keepalive);
    const sending = sender.send(record, token.get() ?? '', size, keepalive);
    onSent(record, handoff);
    const attempt = await sending;
    inFlight.delete(entry);
    if (stopped) return;
    // The browser goes on with it, and nobody here will hear of it: whoever comes next counts it.
    if (attempt.wasLeft) return outbox.abandon(entry);
    conclude(entry, attempt, started);
    // Answers that come close together free places together: one write for several requests.
    if (inFlight.size === 0) pump();
    else wakeAt(now() + TOGETHER_MS);
  };

  const conclude = (entry: Entry, attempt: Attempt, started: Started): void => {
    const { outcome, status } = attempt;
    if (outcome === 'delivered' || outcome === 'rejected') {
      told = false;
      token.passed();
      health.passed(started);
      if (outcome === 'delivered') outbox.finish(entry);
      else outbox.drop(entry, 'rejected', `the service answered ${status}`);
    } else {
      outbox.putBack(entry, status > 0);
      const isItsOwn =
        outcome === 'blocked'
          ? refused(entry, attempt, started)
          : health.failed(entry, attempt, started);
      if (isItsOwn) later.add(entry);
    }
    onOutcome(entry.record, outcome, status);
    waiters.count(entry, outcome);
  };

  /** True when only this record is answered so. */
  const refused = (entry: Entry, { status, token: used }: Attempt, started: Started): boolean => {
    if (used !== token.get()) return false; // a newer one is there already
    if (status === 401 && token.renew()) return false;
    if (health.refused(entry, status, started)) return true;
    entry.dueAt = 0;
    if (status === 401) token.forget();
    const message =
      status === 401 || status === 403
        ? `the service refuses the token (${status}): check the option \`token\``
        : `no such service (${status}): check the option \`baseUrl\``;
    setUp({ kind: 'setup', status, message });
    return false;
  };

  return {
    pump,
    flushAll,
    /** Attempts everything due, and settles when it has had its attempt. */
    flush: (): Promise<FlushResult> => {
      const result = waiters.add(outbox.entries);
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
      if (stopped || health.pause(time)[0] || gate.isDoubtful()) return;
      if (token.get() === undefined) return;
      let room = sender.room();
      const leaving = (entry: Entry): boolean => {
        if (entry.size > room || !outbox.canSend(entry)) return false;
        room -= entry.size;
        return true;
      };
      const rules = { now: time, limit: Infinity, horizon, hasUnread: false, leaving };
      for (const entry of nextInLine(outbox.entries, rules)) void start(entry, true);
    },
    /** Gets a token, where one will be needed: at the page's end there is no time to ask. */
    prepare: (): void => {
      if (token.get() === undefined) pump();
    },
    /** The network is back. */
    resume: (): void => {
      health.resume();
      flushAll();
    },
    /** The set-up has changed. */
    reconfigure: (): void => {
      told = false;
      health.resume();
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
    pause: (): [Status['paused'], number] => health.pause(now()),
  };
};

export type Flusher = ReturnType<typeof createFlusher>;
