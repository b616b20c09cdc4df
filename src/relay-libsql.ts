export { createLibsqlQueue } from './relay/libsql/queue.js';
export type { DeadRecord, LibsqlQueue, LibsqlQueueOptions } from './relay/libsql/queue.js';
export { createLibsqlSeen } from './relay/libsql/seen.js';
export type { LibsqlSeen, LibsqlSeenOptions } from './relay/libsql/seen.js';
