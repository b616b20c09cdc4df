export { createLibsqlQueue } from './server/queue/libsql/queue.js';
export type { LibsqlQueue, LibsqlQueueOptions } from './server/queue/libsql/queue.js';
export type {
  DeadLetter,
  DeadLetters,
  IdBounds,
  Queue,
  QueueBounds,
} from './server/queue/ports.js';
