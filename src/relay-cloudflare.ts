export { createCloudflareQueue } from './relay/cloudflare/queue.js';
export { createKvSeen } from './relay/cloudflare/seen.js';
export type { KvSeenOptions } from './relay/cloudflare/seen.js';
export { createQueueHandler } from './relay/cloudflare/queue-handler.js';
export type { DeadLetter, QueueHandlerOptions } from './relay/cloudflare/queue-handler.js';
export type {
  KvNamespace,
  PlatformBatch,
  PlatformMessage,
  PlatformQueue,
} from './relay/cloudflare/bindings.js';
