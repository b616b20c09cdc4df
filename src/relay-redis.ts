export { createRedisQueue } from './relay/queue/redis/queue.js';
export type { RedisQueue, RedisQueueOptions } from './relay/queue/redis/queue.js';
export { createRedisSeen } from './relay/queue/redis/seen.js';
export type { RedisSeenOptions } from './relay/queue/redis/seen.js';
export type { RedisClient } from './relay/queue/redis/client.js';
export type {
  DeadLetter,
  DeadLetters,
  IdBounds,
  Queue,
  QueueBounds,
  Seen,
} from './relay/queue/ports.js';
