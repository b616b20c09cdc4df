import type { Delivery } from './deliver/delivery.js';
import type { Sink } from './sink.js';

/** Passes records on to another service while their sender waits. */
export const createUpstreamSink = (delivery: Delivery): Sink => ({
  done: 'passed on',
  take: (records, circumstances) => Promise.all(delivery.deliver(records, circumstances)),
  waitMs: delivery.waitMs,
  // If the service is away, this server still works.
  problem: () => undefined,
});
