export { createRedisQueue } from './server/queue/redis/queue.js';
export type { RedisQueue, RedisQueueOptions } from './server/queue/redis/queue.js';
export type { RedisClient } from './server/queue/redis/client.js';
export type {
  DeadLetter,
  DeadLetters,
  IdBounds,
  Queue,
  QueueBounds,
} from './server/queue/ports.js';
