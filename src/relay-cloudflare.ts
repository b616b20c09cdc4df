export { createCloudflareQueue } from './relay/queue/cloudflare/queue.js';
export { createKvSeen } from './relay/queue/cloudflare/seen.js';
export type { KvSeenOptions } from './relay/queue/cloudflare/seen.js';
export { createQueueHandler } from './relay/delivery/cloudflare-handler.js';
export type { DeadLetter, QueueHandlerOptions } from './relay/delivery/cloudflare-handler.js';
export type {
  KvNamespace,
  PlatformBatch,
  PlatformMessage,
  PlatformQueue,
} from './relay/queue/cloudflare/queue.js';
export type { Hooks } from './relay/hooks.js';
export type { Queue, QueuedRecord, Seen } from './relay/queue/ports.js';
export type { BatchRecord, BatchResult } from './interface/wire.js';
