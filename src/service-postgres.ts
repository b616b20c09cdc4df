export { createPostgresStore } from './server/store/postgres/store.js';
export type { PostgresStoreOptions } from './server/store/postgres/store.js';
export type { Store } from './server/store/port.js';
