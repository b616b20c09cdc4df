import { messageOf } from '../../interface/errors.js';
import { callHook } from '../call-hook.js';
import type { Delivery, DeliverOptions } from './delivery.js';
import type { Tell } from '../hooks.js';
import type { QueuedRecord, Taken } from '../queue/ports.js';
import { settleRound, type Settlement } from './settle-round.js';

/** A record that became a dead letter. */
export interface Undelivered {
  record: QueuedRecord;
  /** `rejected`: the service refused it. `expired`: it was older than `maxAge`. */
  reason: 'rejected' | 'expired';
  /** HTTP status of the refusal; 0 where there is none. */
  status: number;
}

/** The reason as a dead letter has it. */
export const wordsOf = ({ reason, status }: Omit<Undelivered, 'record'>): string =>
  status ? `${reason} ${status}` : reason;

interface Effects {
  delivery: Delivery;
  onUndelivered: ((undelivered: Undelivered) => void) | undefined;
  tell: Tell;
  now: () => number;
  random: () => number;
}

/** Delivers batches of a queue. The same for the consumer and for the handler on Cloudflare. */
export const createRounds = ({ delivery, onUndelivered, tell, now, random }: Effects) => ({
  /** Delivers a batch and says what to do with each of its records. Never rejects. */
  deliver: async (round: readonly Taken[], options: DeliverOptions): Promise<Settlement> => {
    const results = await delivery.deliver(
      round.map(({ record }) => record),
      options,
    );
    for (const { outcome } of results) tell.metric('records', 1, { side: 'out', outcome });
    return settleRound(round, results, { now, random });
  },
  /** Tells the operator of a record that was given up. */
  tellUndelivered: (undelivered: Undelivered): void =>
    callHook(
      () => onUndelivered?.(undelivered),
      (error) =>
        tell.error({ kind: 'hook', message: `\`onUndelivered\` failed: ${messageOf(error)}` }),
    ),
});
