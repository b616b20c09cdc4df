import type { FlushResult } from '../types.js';
import { createBatching } from './batching.js';
import { createConclusions } from './conclusions.js';
import type { Context, DeliveryEffects } from './context.js';
import { createHealth } from './health.js';
import { SLOW_MS } from './pauses.js';
import { createPump } from './pump.js';
import { createTroubles } from './troubles.js';
import { createWaiters } from './waiters.js';

/** When the network is back, over this share of the oldest record's age, and no longer than this (docs/fleet.md). */
const RETURN_SHARE = 0.5;
const RETURN_MS = SLOW_MS;

/** Sends what is due, as fast as the destination's state allows. */
export const createFlusher = (effects: DeliveryEffects) => {
  const { outbox, sender, gate, now, random } = effects;
  const troubles = createTroubles();
  const health = createHealth(effects, troubles);
  const waiters = createWaiters();
  const batching = createBatching(sender.capacity, troubles);
  const context: Context = { ...effects, troubles, health, batching, waiters };
  const conclusions = createConclusions(context);
  const { pump, flushAll, isReady, handOff, inFlight, halt } = createPump(context, conclusions);

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
      health.hurry();
      if (!health.pause()[0] && !gate.until()) handOff();
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
    halt,
    inFlight,
    pause: health.pause,
  };
};

export type Flusher = ReturnType<typeof createFlusher>;
