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
