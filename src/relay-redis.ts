export { createRedisQueue } from './relay/redis/queue.js';
export type { RedisQueue, RedisQueueOptions } from './relay/redis/queue.js';
export { createRedisSeen } from './relay/redis/seen.js';
export type { RedisSeenOptions } from './relay/redis/seen.js';
export type { RedisClient } from './relay/redis/client.js';
