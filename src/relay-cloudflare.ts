export { createCloudflareQueue } from './server/queue/cloudflare/queue.js';
export { createKvSeen } from './server/queue/cloudflare/seen.js';
export type { KvSeenOptions } from './server/queue/cloudflare/seen.js';
export { createQueueHandler } from './server/deliver/cloudflare-handler.js';
export type { DeadLetter, QueueHandlerOptions } from './server/deliver/cloudflare-handler.js';
export type {
  KvNamespace,
  PlatformBatch,
  PlatformMessage,
  PlatformQueue,
} from './server/queue/cloudflare/queue.js';
export type { Hooks } from './server/hooks.js';
export type { Queue, QueuedRecord, Seen } from './server/queue/ports.js';
export type { BatchRecord, BatchResult } from './interface/wire.js';
