export { createRedisQueue } from './server/queue/redis/queue.js';
export type { RedisQueue, RedisQueueOptions } from './server/queue/redis/queue.js';
export { createRedisSeen } from './server/queue/redis/seen.js';
export type { RedisSeenOptions } from './server/queue/redis/seen.js';
export type { RedisClient } from './server/queue/redis/client.js';
export type {
  DeadLetter,
  DeadLetters,
  IdBounds,
  Queue,
  QueueBounds,
  Seen,
} from './server/queue/ports.js';
