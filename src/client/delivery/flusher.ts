import type { Outbox } from '../outbox/outbox.js';
import type { DeliveryError, FlushResult, Outcome, OutboxRecord, Status } from '../types.js';
import { createAlarm } from './alarm.js';
import { createBatching } from './batching.js';
import { createChoice } from './choice.js';
import { createConclusions } from './conclusions.js';
import { createDispatch } from './dispatch.js';
import type { Gate } from './gate.js';
import { createHealth, SLOW_MS } from './health.js';
import { createRequests } from './requests.js';
import type { Sender } from './sender.js';
import { createTroubles } from './troubles.js';
import { createWaiters } from './waiters.js';

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
  onUnreachable: () => void;
}

/** Sends what is due, as fast as the destination's state allows. */
export const createFlusher = (effects: Effects) => {
  const { outbox, sender, gate, now, random } = effects;
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
  const dispatch = createDispatch({
    ...effects,
    health,
    batching,
    requests,
    conclusions,
    choice,
    onFree: () => {
      // Answers that come close together free places together: one write for several requests.
      if (requests.count() === 0) pump();
      else alarm.setBy(now() + TOGETHER_MS);
    },
  });
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
      const { due, prepared } = dispatch.due(time, horizon);
      isStarving = due === 0 && requests.count() === 0;
      if (prepared) void whenDone(prepared);
      const next = Math.min(troubles.nextDue(time, SLOW_MS), requests.firstUntil(time));
      if (next < Infinity) alarm.setBy(next);
    } else {
      void outbox.prepare([]);
      if (reason) alarm.setBy(until + random() * SPREAD_MS);
      else if (pending === 0 && outbox.count() > 0) void whenDone(askToken());
    }
    settle();
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
      dispatch.leaving(time, horizon);
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
