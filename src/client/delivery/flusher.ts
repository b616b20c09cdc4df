import type { FlushResult } from '../types.js';
import { createBatching } from './batching.js';
import { createConclusions } from './conclusions.js';
import type { Context, DeliveryEffects } from './context.js';
import { createHealth } from './health.js';
import { createPump } from './pump.js';
import { createTroubles } from './troubles.js';
import { createWaiters } from './waiters.js';

/** Delivery to one destination, as the rest of the tracker sees it. */
export const createFlusher = (effects: DeliveryEffects) => {
  const { outbox, sender, gate, now, random, mayRun, isOnline, knowsRepeats } = effects;
  const troubles = createTroubles(now, random);
  const health = createHealth(effects);
  const waiters = createWaiters();
  const batching = createBatching(sender.capacity);
  const context: Context = { ...effects, troubles, health, batching, waiters };
  const conclusions = createConclusions(context);
  const { pump, flushAll, isReady, handOff, inFlight, halt } = createPump(context, conclusions);

  return {
    pump,
    flushAll,
    /** Attempts everything that waits. Resolves when all of it has had its attempt, or can have none for now. */
    flush: (): Promise<FlushResult> => {
      const result = waiters.add(outbox.latest());
      flushAll();
      return result;
    },
    /**
     * Hands off what the browser takes. If the destination is known to fail, the outbox is safer; but a receiver that
     * knows repeats is given the records all the same, unless the service has asked for a wait.
     */
    handOff: (): void => {
      const isWise = knowsRepeats() ? gate.floor() <= now() : isOnline() && !gate.until();
      if (mayRun() && isWise) handOff();
    },
    /** Asks for a token if one will be needed: as the page is left, there is no time to ask. */
    prepare: (): void => {
      if (!isReady()) pump();
    },
    /** Called when the network is back, perhaps for many visitors at the same moment. */
    resume: (): void => {
      health.comeOnline();
      troubles.clear();
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
      health.reconfigure();
      troubles.clear();
      flushAll();
    },
    halt,
    inFlight,
    reason: health.reason,
    pause: health.pause,
  };
};

export type Flusher = ReturnType<typeof createFlusher>;
