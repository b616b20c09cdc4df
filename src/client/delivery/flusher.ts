import type { Outbox } from '../outbox/outbox.js';
import type { DeliveryError, FlushResult, Outcome, OutboxRecord } from '../types.js';
import { createBatching } from './batching.js';
import { createChoice } from './choice.js';
import { createConclusions } from './conclusions.js';
import { createDispatch } from './dispatch.js';
import type { Gate } from './gate.js';
import { createHealth } from './health.js';
import { createMeanings } from './meanings.js';
import { SLOW_MS, type Pause } from './pauses.js';
import { createPump } from './pump.js';
import { createRequests } from './requests.js';
import type { Sender } from './sender.js';
import { createTroubles } from './troubles.js';
import { createWaiters } from './waiters.js';

/** When the network is back, over this share of the oldest record's age, and no longer than this (docs/fleet.md). */
const RETURN_SHARE = 0.5;
const RETURN_MS = SLOW_MS;

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
  const meanings = createMeanings({ ...effects, access, health, troubles, batching });
  const { lacksToken } = meanings;
  const conclude = createConclusions({ ...effects, meanings, health, batching, waiters });
  const choice = createChoice({ outbox, requests, batching, troubles, room: sender.room });
  const onFree = () => sending.free();
  const dispatch = createDispatch({
    ...effects,
    ...{ health, batching, requests, conclude, choice, onFree },
  });
  const sending = createPump({
    ...effects,
    ...{ access, health, troubles, requests, waiters, dispatch, lacksToken },
  });
  const { pump, isReady } = sending;

  /** Attempts everything that waits by now. */
  const flushAll = (): void => {
    sending.makeDue();
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
      sending.makeDue();
      health.hurry();
      if (!health.pause(now())[0] && !gate.isDoubtful()) sending.handOff();
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
      meanings.reset();
      health.resume();
      flushAll();
    },
    stop: (): void => {
      sender.abort();
      requests.clear();
      sending.stop();
    },
    /** Records without an answer yet. */
    inFlight: (): number => requests.entries().length,
    pause: (): Pause => health.pause(now()),
  };
};

export type Flusher = ReturnType<typeof createFlusher>;
