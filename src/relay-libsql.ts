export { createLibsqlQueue } from './relay/queue/libsql/queue.js';
export type { LibsqlQueue, LibsqlQueueOptions } from './relay/queue/libsql/queue.js';
export { createLibsqlSeen } from './relay/queue/libsql/seen.js';
export type { LibsqlSeen, LibsqlSeenOptions } from './relay/queue/libsql/seen.js';
export type {
  DeadLetter,
  DeadLetters,
  IdBounds,
  Queue,
  QueueBounds,
  Seen,
} from './relay/queue/ports.js';
