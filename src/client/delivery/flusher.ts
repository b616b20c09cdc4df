import type { FlushResult } from '../types.js';
import { createBatching } from './batching.js';
import { createConclusions } from './conclusions.js';
import type { Context, DeliveryEffects } from './context.js';
import { createHealth } from './health.js';
import { SLOW_MS } from './pauses.js';
import { createPump } from './pump.js';
import { createTroubles } from './troubles.js';
import { createWaiters } from './waiters.js';

/**
 * When the network is back, pages come back spread over this share of the age of their oldest record, and over
 * `RETURN_MS` at most (docs/fleet.md).
 */
const RETURN_SHARE = 0.5;
const RETURN_MS = SLOW_MS;

/** Delivery to one destination, as the rest of the tracker sees it. */
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
    /** Attempts everything that waits. Resolves when all of it has had its attempt, or can have none for now. */
    flush: (): Promise<FlushResult> => {
      const result = waiters.add(outbox.latest());
      health.hurry();
      flushAll();
      return result;
    },
    /**
     * Hands off what the browser takes. If the destination is known to fail, nothing is handed off, since the
     * outbox is safer.
     */
    handOff: (): void => {
      health.hurry();
      if (!health.pause()[0] && !gate.until()) handOff();
    },
    /** Asks for a token if one will be needed: as the page is left, there is no time to ask. */
    prepare: (): void => {
      if (!isReady()) pump();
    },
    /** Called when the network is back, perhaps for many visitors at the same moment. */
    resume: (): void => {
      const time = now();
      const [oldest] = outbox.entries();
      const age = time - (oldest?.record.at ?? time);
      health.resume(random() * Math.min(RETURN_MS, RETURN_SHARE * age));
      flushAll();
    },
    /** Called when the page is back from the back/forward cache. */
    comeBack: (): void => {
      sender.comeBack();
      pump();
    },
    /** Called when the set-up has changed. */
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
