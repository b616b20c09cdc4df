import type { Queue, QueuedRecord } from '../ports.js';

/** The parts of the platform that are used, so that its types are not needed. */

/** A KV namespace. https://developers.cloudflare.com/kv/api/ */
export interface KvNamespace {
  get(key: string): Promise<string | null>;
  put(key: string, value: string, options: { expirationTtl: number }): Promise<void>;
  delete(key: string): Promise<void>;
}

/** A producer's binding. https://developers.cloudflare.com/queues/configuration/javascript-apis/#queue */
export interface PlatformQueue<Body> {
  sendBatch(messages: Iterable<{ body: Body; contentType?: 'json' }>): Promise<unknown>;
}

/** https://developers.cloudflare.com/queues/configuration/javascript-apis/#message */
export interface PlatformMessage<Body> {
  readonly id: string;
  readonly body: Body;
  /** How often it has been delivered, this time included. */
  readonly attempts: number;
  ack(): void;
  retry(options?: { delaySeconds?: number }): void;
}

/** https://developers.cloudflare.com/queues/configuration/javascript-apis/#messagebatch */
export interface PlatformBatch<Body> {
  readonly queue: string;
  readonly messages: readonly PlatformMessage<Body>[];
}

/** https://developers.cloudflare.com/queues/platform/limits/ */
const MAX_MESSAGES = 100;
const MAX_BATCH_BYTES = 256_000;
/** The platform adds about 100 bytes of its own to a message, which count, too. */
const OVERHEAD_BYTES = 200;

const bytesOf = (record: QueuedRecord): number =>
  new TextEncoder().encode(JSON.stringify(record)).length + OVERHEAD_BYTES;

const split = (records: readonly QueuedRecord[]): QueuedRecord[][] => {
  const batches: QueuedRecord[][] = [];
  let bytes = Infinity;
  for (const record of records) {
    const size = bytesOf(record);
    const last = batches.at(-1);
    if (last && last.length < MAX_MESSAGES && bytes + size <= MAX_BATCH_BYTES) {
      last.push(record);
      bytes += size;
    } else {
      batches.push([record]);
      bytes = size;
    }
  }
  return batches;
};

/**
 * For a relay's `queue`, over a binding of Cloudflare Queues. What takes from it is the handler that
 * `createQueueHandler` makes.
 *
 * The platform does not tell repeats. When one of several writes fails all are asked for again, so some of
 * the records may stand in the queue twice: `seen` and the service's Idempotency-Key take care of these.
 *
 * @example
 * const relay = createRelay({ ...options, queue: createCloudflareQueue(env.RECORDS) });
 */
export const createCloudflareQueue = (
  binding: PlatformQueue<QueuedRecord>,
): Pick<Queue, 'put'> => ({
  put: async (records) => {
    for (const batch of split(records)) {
      await binding.sendBatch(batch.map((body) => ({ body, contentType: 'json' as const })));
    }
  },
});
