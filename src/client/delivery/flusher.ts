import type { Outbox } from '../outbox/outbox.js';
import type { Entry } from '../outbox/parcel.js';
import type { DeliveryError, FlushResult, Outcome, OutboxRecord, Status } from '../types.js';
import { createAlarm } from './alarm.js';
import { createBatching } from './batching.js';
import { createChoice } from './choice.js';
import { createConclusions } from './conclusions.js';
import type { Gate } from './gate.js';
import { createHealth, SLOW_MS } from './health.js';
import { createRequests } from './requests.js';
import type { Sender } from './sender.js';
import { createTroubles } from './troubles.js';
import { createWaiters } from './waiters.js';

/** Other pages wait this long for the page that probes. */
const PROBE_MS = 5_000;
/** Pages that wait for the same moment come back spread over this long, so that one of them can probe. */
const SPREAD_MS = 500;
/** When the network is back, over this share of the oldest record's age, and no longer than this (docs/fleet.md). */
const RETURN_SHARE = 0.5;
const RETURN_MS = SLOW_MS;
/** Free places wait this long for more of them, so that a write serves several requests. */
const TOGETHER_MS = 12;

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

/** Sends what is due, as fast as the destination's state allows. */
export const createFlusher = (effects: Effects) => {
  const { outbox, sender, gate, now, random, isHidden, onSent } = effects;
  const { access, hasPreflight = false } = sender;
  const troubles = createTroubles();
  const health = createHealth({ ...effects, troubles });
  const waiters = createWaiters();
  const batching = createBatching(sender.capacity, troubles);
  const requests = createRequests({ ...effects, hasPreflight });
  const conclusions = createConclusions({
    ...effects,
    access,
    health,
    troubles,
    batching,
    waiters,
  });
  const choice = createChoice({ outbox, requests, batching, troubles, room: sender.room });
  const alarm = createAlarm(now, SLOW_MS, () => pump());
  /** Own records up to here are due; those called since wait for the next flush. */
  let horizon = 0;
  let isStopped = false;
  /** The last look found nothing that may be sent, though nothing keeps the destination back. */
  let isStarving = false;
  /** The last look found that nothing may be sent: what is stored need not be read yet. */
  let isPaused = false;
  /** Waits for storage or a token, after which it goes on by itself. */
  let pending = 0;

  const whenDone = async (work: Promise<unknown>): Promise<void> => {
    pending++;
    await work;
    pending--;
    pump();
  };

  const wantsMore = (): boolean => !isStopped && !isPaused && outbox.wantsMore(isStarving);

  const isReady = (): boolean => access?.isReady() ?? true;

  const askToken = async (): Promise<void> => {
    const problem = await access?.ask();
    if (problem && !isStopped) conclusions.lacksToken(problem);
  };

  const sendNow = (): void => {
    if (isStopped) return;
    const time = now();
    outbox.tidy();
    isStarving = false;
    const [reason, until] = health.pause(time);
    isPaused = !!reason;
    if (!reason && isReady()) {
      sendDue(time);
      const next = Math.min(troubles.nextDue(time, SLOW_MS), requests.firstUntil(time));
      if (next < Infinity) alarm.setBy(next);
    } else {
      void outbox.prepare([]);
      if (reason) alarm.setBy(until + random() * SPREAD_MS);
      else if (pending === 0 && outbox.count() > 0) void whenDone(askToken());
    }
    settle();
  };

  const sendDue = (time: number): void => {
    const isProbing = health.isProbing();
    const limit = Math.min(
      health.width() - requests.filter(health.isCurrent),
      requests.places(time),
    );
    if (limit <= 0) return;
    const groups = choice.next(time, horizon, limit, isProbing);
    isStarving = groups.length === 0 && requests.count() === 0;
    // A hidden page may be gone before the database has been prepared.
    const prepared = isHidden() ? undefined : outbox.prepare(groups.flat());
    if (prepared) void whenDone(prepared);
    for (const group of groups.filter((group) => group.every(outbox.canSend))) {
      if (gate.isDoubtful()) gate.reserve(PROBE_MS);
      void start(group, false);
    }
  };

  const settle = (): void => {
    if (!isStopped && (pending > 0 || wantsMore())) return;
    waiters.settle((last) => requests.entries().some(({ order }) => order <= last), outbox.waiting);
  };

  /** Goes on with what is under way. */
  const pump = (): void => {
    sendNow();
    if (wantsMore()) void whenDone(outbox.refill(isStarving));
  };

  /** Attempts everything that waits by now. */
  const flushAll = (): void => {
    horizon = outbox.latest();
    pump();
  };

  const start = async (group: Entry[], handoff: boolean): Promise<void> => {
    const started = health.begin();
    requests.begin(started, group);
    const records = group.map(({ record }) => record);
    const size = batching.weigh(group);
    const keepalive = size <= sender.room();
    for (const entry of group) outbox.begin(entry, keepalive);
    const sending = sender.send(records, { size, keepalive, handoff });
    for (const record of records) onSent(record, handoff);
    const sent = await sending;
    requests.end(started);
    if (isStopped) return;
    conclusions.conclude(group, sent, started);
    // What a page that goes away has given to the browser is not for it to send again.
    if (!Array.isArray(sent) && sent.wasLeft && isHidden()) return;
    // Answers that come close together free places together: one write for several requests.
    if (requests.count() === 0) pump();
    else alarm.setBy(now() + TOGETHER_MS);
  };

  return {
    pump,
    flushAll,
    /** Attempts everything due, and settles when it has had its attempt. */
    flush: (): Promise<FlushResult> => {
      const result = waiters.add(outbox.latest());
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
      if (isStopped || health.pause(time)[0] || gate.isDoubtful() || !isReady()) return;
      void outbox.prepare([]); // there is no time to wait for what was being prepared
      for (const group of choice.leaving(time, horizon)) void start(group, true);
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
    /** The page is back. */
    comeBack: (): void => {
      sender.comeBack();
      pump();
    },
    /** The set-up has changed. */
    reconfigure: (): void => {
      conclusions.reset();
      health.resume();
      flushAll();
    },
    stop: (): void => {
      isStopped = true;
      alarm.stop();
      sender.abort();
      requests.clear();
      settle();
    },
    /** Records without an answer yet. */
    inFlight: (): number => requests.entries().length,
    pause: (): [Status['paused'], number] => health.pause(now()),
  };
};

export type Flusher = ReturnType<typeof createFlusher>;
