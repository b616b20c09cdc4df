import { callback, positive } from '../../interface/kinds.js';
import { CLOCK_KINDS, HOOK_KINDS, count, objectWith, type Kinds } from '../check-options.js';
import type { Hooks } from '../hooks.js';
import type { Queue } from '../queue/ports.js';
import type { Undelivered } from './deliver-round.js';
import type { Delivery } from './delivery.js';

/** Options of `createConsumer`. */
export interface ConsumerOptions extends Hooks {
  queue: Queue;
  /** From `createDelivery`, with the `seen` of the relay. */
  delivery: Delivery;
  /** Called for every record that becomes a dead letter. */
  onUndelivered?: ((undelivered: Undelivered) => void) | undefined;
  /** Records taken at a time. @default 64 */
  batchSize?: number | undefined;
  /** Batches that are being delivered at a time. @default 4 */
  concurrentBatches?: number | undefined;
  /**
   * Milliseconds for which nobody else gets the records of a batch. When this process dies, others get
   * them after so long. No try starts after a third of it, and one takes up to four times the delivery's
   * `timeout`. @default 90000
   */
  visibilityTimeout?: number | undefined;
  /** Milliseconds a record is kept. @default 604800000 (7 days) */
  maxAge?: number | undefined;
  /** Milliseconds between two looks at a queue that has nothing to give. @default 250 */
  pollInterval?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
  /** In place of `Math.random`. */
  random?: (() => number) | undefined;
}

export const CONSUMER_KINDS: Kinds<ConsumerOptions> = {
  queue: objectWith('take', 'done', 'retry', 'bury'),
  delivery: objectWith('deliver', 'waitMs'),
  onUndelivered: callback,
  batchSize: count,
  concurrentBatches: count,
  visibilityTimeout: positive,
  maxAge: positive,
  pollInterval: positive,
  ...HOOK_KINDS,
  ...CLOCK_KINDS,
};
