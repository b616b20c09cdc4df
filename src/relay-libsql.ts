export { createLibsqlQueue } from './server/queue/libsql/queue.js';
export type { LibsqlQueue, LibsqlQueueOptions } from './server/queue/libsql/queue.js';
export { createLibsqlSeen } from './server/queue/libsql/seen.js';
export type { LibsqlSeen, LibsqlSeenOptions } from './server/queue/libsql/seen.js';
export type {
  DeadLetter,
  DeadLetters,
  IdBounds,
  Queue,
  QueueBounds,
  Seen,
} from './server/queue/ports.js';
